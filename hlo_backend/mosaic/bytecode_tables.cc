#include "hlo_backend/mosaic/bytecode_tables.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/strip.h"
#include "base/status.h"

namespace ptxla::mosaic {
namespace {

// Nesting of attributes and types; real kernels have three or four levels.
constexpr int kMaxDepth = 64;

}  // namespace

absl::Status Tables::Read(const Sections& sections) {
  RETURN_IF_ERROR(ReadStrings(sections[kStringSection]));
  RETURN_IF_ERROR(ReadDialects(sections[kDialectSection]));
  return ReadEntries(sections[kAttrTypeOffsetSection],
                     sections[kAttrTypeSection]);
}

// Lengths first, of the last string first; the strings are at the end, each
// with its zero.
absl::Status Tables::ReadStrings(absl::string_view bytes) {
  ByteStream in(bytes);
  const size_t n = in.Count();
  size_t end = bytes.size();
  for (size_t k = 0; k < n; ++k) {
    const uint64_t length = in.Varint();
    if (!in.ok() || length < 1 || length > end) return in.Error("the strings");
    end -= length;
    strings_.emplace_back(bytes.substr(end, length - 1));
  }
  std::reverse(strings_.begin(), strings_.end());
  return absl::OkStatus();
}

// Names of dialects, then groups of operations: dialect, how many, names.
// Mosaic puts all of its operations into one dialect of stable names.
absl::Status Tables::ReadDialects(absl::string_view bytes) {
  ByteStream in(bytes);
  std::vector<std::string> dialects;
  const size_t n = in.Count();
  for (size_t k = 0; k < n && in.ok(); ++k) {
    const size_t name = in.Index(string_count());
    if (in.ok()) dialects.push_back(strings_[name]);
  }
  while (!in.AtEnd()) {
    in.Index(dialects.size());
    const size_t count = in.Count();
    for (size_t k = 0; k < count && in.ok(); ++k) {
      const size_t name = in.Index(string_count());
      if (in.ok()) operation_names_.push_back(strings_[name]);
    }
  }
  return in.ok() ? absl::OkStatus() : in.Error("the dialects");
}

absl::Status Tables::ReadEntries(absl::string_view offsets,
                                 absl::string_view bytes) {
  ByteStream in(offsets), data(bytes);
  const uint64_t attributes = in.Varint();
  const uint64_t types = in.Varint();
  const auto read = [&](uint64_t count, auto* entries) {
    while (entries->size() < count && in.ok() && data.ok()) {
      in.Varint();  // dialect
      const size_t group = in.Count();
      if (group == 0) in.Fail();
      for (size_t k = 0; k < group && in.ok() && data.ok(); ++k) {
        const uint64_t size = in.Varint();
        entries->push_back({data.Bytes(size >> 1), (size & 1) != 0});
      }
    }
  };
  read(attributes, &attributes_);
  read(types, &types_);
  if (!in.ok() || !data.ok() || attributes_.size() != attributes ||
      types_.size() != types) {
    return in.Error("the attributes and types");
  }
  return absl::OkStatus();
}

const Attribute* Tables::AttributeAt(size_t index) {
  Entry<Attribute>& e = attributes_[index];
  if (e.value != nullptr) return e.value;
  if (e.open || depth_ >= kMaxDepth) return nullptr;
  e.open = true;
  ++depth_;
  auto a = std::make_unique<Attribute>();
  bool good = true;
  if (e.encoded) {
    good = ReadAttribute(ByteStream(e.bytes), a.get());
  } else {
    a->kind = Attribute::Kind::kText;
    a->text = std::string(ByteStream(e.bytes).ZeroTerminated());
  }
  --depth_;
  e.open = false;
  if (!good) return nullptr;
  e.value = a.get();
  module_->attributes.push_back(std::move(a));
  return e.value;
}

const Type* Tables::TypeAt(size_t index) {
  Entry<Type>& e = types_[index];
  if (e.value != nullptr) return e.value;
  if (e.open || depth_ >= kMaxDepth) return nullptr;
  e.open = true;
  ++depth_;
  auto t = std::make_unique<Type>();
  bool good = true;
  if (e.encoded) {
    good = ReadType(ByteStream(e.bytes), t.get());
  } else {
    t->name = std::string(ByteStream(e.bytes).ZeroTerminated());
  }
  --depth_;
  e.open = false;
  if (!good) return nullptr;
  e.value = t.get();
  module_->types.push_back(std::move(t));
  return e.value;
}

const Attribute* Tables::NextAttribute(ByteStream* in) {
  const size_t index = in->Index(attribute_count());
  return in->ok() ? AttributeAt(index) : nullptr;
}

const Type* Tables::NextType(ByteStream* in) {
  const size_t index = in->Index(type_count());
  return in->ok() ? TypeAt(index) : nullptr;
}

}  // namespace ptxla::mosaic
