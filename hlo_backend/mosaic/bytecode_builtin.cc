// Attributes and types of MLIR's builtin dialect.
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo_backend/mosaic/bytecode_tables.h"

namespace ptxla::mosaic {
namespace {

enum AttributeCode {
  kArrayAttr = 0,
  kDictionaryAttr = 1,
  kStringAttr = 2,
  kStringWithTypeAttr = 3,
  kFlatSymbolAttr = 4,
  kTypeAttr = 6,
  kUnitAttr = 7,
  kIntegerAttr = 8,
  kFloatAttr = 9,
  kFirstLocation = 10,
  kLastLocation = 15,
  kDenseArrayAttr = 17,
  kDenseElementsAttr = 18,
  kFileRangeLocation = 22,
};

enum TypeCode {
  kIntegerType = 0,
  kIndexType = 1,
  kFunctionType = 2,
  kBf16Type = 3,
  kF64Type = 6,
  kMemRefType = 10,
  kMemRefWithSpaceType = 11,
  kVectorType = 19,
  kFirstSmallFloat = 22,
};

bool Scalar(absl::string_view name, int bits, Type* t) {
  t->kind = Type::Kind::kScalar;
  t->name = std::string(name);
  t->bits = bits;
  return true;
}

}  // namespace

// A number that fits into 64 bits: a byte up to 8 bits, else a signed varint.
bool Tables::ReadNumber(ByteStream* in, Attribute* a) {
  a->type = NextType(in);
  if (a->type == nullptr || a->type->kind != Type::Kind::kScalar) return false;
  const int bits = a->type->name == "index" ? 64 : a->type->bits;
  if (bits > 64) return false;
  a->integer = bits <= 8 ? static_cast<int8_t>(in->Byte()) : in->SignedVarint();
  if (a->type->name == "i1") a->integer &= 1;
  return in->ok();
}

bool Tables::ReadDenseIntegers(ByteStream* in, Attribute* a) {
  a->kind = Attribute::Kind::kIntegers;
  a->type = NextType(in);
  const uint64_t count = in->Varint();
  const absl::string_view data = in->Bytes(in->Count());
  if (!in->ok() || a->type == nullptr) return false;
  const size_t width = (a->type->bits + 7) / 8;
  if (width == 0 || width > 8 || count > data.size() ||
      data.size() != count * width) {
    return false;
  }
  for (uint64_t k = 0; k < count; ++k) {
    // Little-endian, sign extended.
    uint64_t word = 0;
    std::memcpy(&word, data.data() + k * width, width);
    const int shift = static_cast<int>(64 - 8 * width);
    a->integers.push_back(static_cast<int64_t>(word << shift) >> shift);
  }
  return true;
}

bool Tables::ReadAttribute(ByteStream in, Attribute* a) {
  using Kind = Attribute::Kind;
  const uint64_t code = in.Varint();
  if ((code >= kFirstLocation && code <= kLastLocation) ||
      code == kFileRangeLocation) {
    a->kind = Kind::kLocation;
    return true;
  }
  switch (code) {
    case kArrayAttr:
      a->kind = Kind::kArray;
      for (size_t n = in.Count(); n > 0 && in.ok(); --n) {
        a->elements.push_back(NextAttribute(&in));
        if (a->elements.back() == nullptr) return false;
      }
      return in.ok();
    case kDictionaryAttr:
      a->kind = Kind::kDictionary;
      for (size_t n = in.Count(); n > 0 && in.ok(); --n) {
        const Attribute* name = NextAttribute(&in);
        a->elements.push_back(NextAttribute(&in));
        if (name == nullptr || a->elements.back() == nullptr) return false;
        a->names.push_back(name->text);
      }
      return in.ok();
    case kStringAttr:
    case kStringWithTypeAttr: {
      a->kind = Kind::kString;
      const size_t index = in.Index(string_count());
      if (in.ok()) a->text = strings_[index];
      return in.ok();
    }
    case kFlatSymbolAttr: {
      a->kind = Kind::kString;
      const Attribute* name = NextAttribute(&in);
      if (name == nullptr) return false;
      a->text = name->text;
      return true;
    }
    case kTypeAttr:
      a->kind = Kind::kType;
      a->type = NextType(&in);
      return a->type != nullptr;
    case kUnitAttr:
      a->kind = Kind::kUnit;
      return true;
    case kIntegerAttr:
      a->kind = Kind::kInteger;
      return ReadNumber(&in, a);
    case kFloatAttr:
      a->kind = Kind::kFloat;
      return ReadNumber(&in, a);
    case kDenseArrayAttr:
      return ReadDenseIntegers(&in, a);
    case kDenseElementsAttr:
      a->kind = Kind::kDense;
      a->type = NextType(&in);
      a->text = std::string(in.Bytes(in.Count()));
      return in.ok() && a->type != nullptr;
    default:
      return false;
  }
}

bool Tables::ReadTypes(ByteStream* in, std::vector<const Type*>* types) {
  for (size_t n = in->Count(); n > 0 && in->ok(); --n) {
    types->push_back(NextType(in));
    if (types->back() == nullptr) return false;
  }
  return in->ok();
}

bool Tables::ReadDims(ByteStream* in, Type* t) {
  for (size_t n = in->Count(); n > 0 && in->ok(); --n) {
    const int64_t d = in->SignedVarint();
    // More than any memory has: what is counted with it must not overflow.
    if (d != kDynamic && (d < 0 || d > (int64_t{1} << 40))) return false;
    t->dims.push_back(d);
  }
  double elements = 1;
  for (const int64_t d : t->dims) elements *= d == kDynamic ? 1 : d;
  return in->ok() && elements < 1e15;
}

bool Tables::ReadMemRef(ByteStream* in, bool with_space, Type* t) {
  t->kind = Type::Kind::kMemRef;
  if (with_space) {
    const Attribute* space = NextAttribute(in);
    if (space == nullptr) return false;
    absl::string_view text = space->text;
    absl::ConsumePrefix(&text, "#tpu.memory_space<");
    absl::ConsumeSuffix(&text, ">");
    t->memory_space = std::string(text);
  }
  if (!ReadDims(in, t)) return false;
  t->element = NextType(in);
  return t->element != nullptr && NextAttribute(in) != nullptr;  // layout
}

bool Tables::ReadType(ByteStream in, Type* t) {
  const uint64_t code = in.Varint();
  switch (code) {
    case kIntegerType: {
      const uint64_t width = in.Varint() >> 2;  // and signedness
      if (!in.ok() || width > 64) return false;
      return Scalar(absl::StrCat("i", width), static_cast<int>(width), t);
    }
    case kIndexType:
      return Scalar("index", 32, t);
    case kFunctionType:
      t->kind = Type::Kind::kFunction;
      return ReadTypes(&in, &t->inputs) && ReadTypes(&in, &t->outputs);
    case kMemRefType:
    case kMemRefWithSpaceType:
      return ReadMemRef(&in, code == kMemRefWithSpaceType, t);
    case kVectorType:
      t->kind = Type::Kind::kVector;
      if (!ReadDims(&in, t)) return false;
      t->element = NextType(&in);
      return t->element != nullptr;
    default:
      break;
  }
  if (code >= kBf16Type && code <= kF64Type) {
    constexpr absl::string_view kNames[] = {"bf16", "f16", "f32", "f64"};
    constexpr int kBits[] = {16, 16, 32, 64};
    return Scalar(kNames[code - kBf16Type], kBits[code - kBf16Type], t);
  }
  struct SmallFloat {
    absl::string_view name;
    int bits;
  };
  constexpr SmallFloat kSmallFloats[] = {
      {"f8E5M2", 8},     {"f8E4M3", 8},     {"f8E4M3FN", 8},
      {"f8E5M2FNUZ", 8}, {"f8E4M3FNUZ", 8}, {"f8E4M3B11FNUZ", 8},
      {"f8E3M4", 8},     {"f4E2M1FN", 4},   {"f6E2M3FN", 6},
      {"f6E3M2FN", 6},   {"f8E8M0FNU", 8}};
  if (code >= kFirstSmallFloat &&
      code < kFirstSmallFloat + std::size(kSmallFloats)) {
    const SmallFloat& f = kSmallFloats[code - kFirstSmallFloat];
    return Scalar(f.name, f.bits, t);
  }
  return false;
}

}  // namespace ptxla::mosaic
