// dense<...> : tensor<...>.
#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/element_value.h"
#include "hlo_backend/stablehlo/value_parser.h"

namespace ptxla::hlo::mlir {
namespace {

// A text of a few bytes must not ask for more memory than this.
constexpr int64_t kMaxElements = int64_t{1} << 31;

}  // namespace

// One number, in hexadecimal the bits of a float; true, false; (re, im).
bool ValueParser::Element(PrimitiveType type, uint8_t* bytes) {
  if (IsComplex(type)) {
    const PrimitiveType part = ComplexComponent(type);
    return Expect("(") && Element(part, bytes) && Expect(",") &&
           Element(part, bytes + StorageBytes(part)) && Expect(")");
  }
  if (Accept("true")) {
    StoreInt(type, 1, bytes);
    return true;
  }
  if (Accept("false")) {
    StoreInt(type, 0, bytes);
    return true;
  }
  Peek();
  const char* begin = at();
  const bool hex = Here() == '0' && Ahead(1) == 'x';
  if (!IsFloat(type) || hex) {
    int64_t value;
    if (!Integer(&value)) return false;
    if (IsFloat(type)) {
      std::memcpy(bytes, &value, StorageBytes(type));
    } else {
      StoreInt(type, value, bytes);
    }
    return true;
  }
  const char* p = begin;
  while (absl::ascii_isalnum(*p) || *p == '-' || *p == '+' || *p == '.') ++p;
  double value;
  if (!absl::SimpleAtod(absl::string_view(begin, p - begin), &value)) {
    return FailHere("expected a number");
  }
  Seek(p);
  StoreDouble(type, value, bytes);
  return true;
}

// Nested lists of all elements, or one element for all.
bool ValueParser::DenseElements(const Shape& shape, Literal* literal) {
  const int size = StorageBytes(shape.type());
  if (Peek() != '[') {
    if (Is(">")) {  // dense<> of no elements
      if (shape.ElementCount() != 0) return FailHere("expected values");
      *literal = Literal(shape);
      return true;
    }
    std::vector<uint8_t> element(size);
    if (!Element(shape.type(), element.data())) return false;
    *literal = Literal::SplatBytes(shape, element);
    return true;
  }
  const char* begin = at();
  const int64_t count = shape.ElementCount();
  std::vector<uint8_t> bytes;
  bytes.reserve(std::min<int64_t>(count, 1 << 20) * size);
  // Elements so far at each open bracket.
  std::vector<int64_t> position(shape.rank(), 0);
  int depth = 0;
  do {
    if (Accept("[")) {
      if (depth == shape.rank()) return FailHere("the list nests too deep");
      position[depth++] = 0;
      continue;
    }
    if (Accept("]")) {
      --depth;
      if (position[depth] != shape.dim(depth)) {
        return Fail(begin, absl::StrCat("a list of ", shape.ToString(), " has ",
                                        position[depth], " elements"));
      }
      if (depth > 0) ++position[depth - 1];
      Accept(",");
      continue;
    }
    if (depth != shape.rank() || position[depth - 1] >= shape.dim(depth - 1)) {
      return FailHere("the list does not have the shape of its type");
    }
    bytes.resize(bytes.size() + size);
    if (!Element(shape.type(), bytes.data() + bytes.size() - size)) {
      return false;
    }
    ++position[depth - 1];
    Accept(",");
  } while (depth > 0);
  if (static_cast<int64_t>(bytes.size()) != count * size) {
    return Fail(begin, "the list does not have the shape of its type");
  }
  *literal = Literal::FromBytes(shape, std::move(bytes));
  return true;
}

// "0x..." in quotes: the bytes of the elements, or of one for all.
bool ValueParser::DenseHex(const Shape& shape, Literal* literal) {
  const char* begin = at();
  std::string text;
  if (!String(&text)) return false;
  const bool all_hex =
      text.size() % 2 == 0 && text.rfind("0x", 0) == 0 &&
      std::all_of(text.begin() + 2, text.end(), absl::ascii_isxdigit);
  if (!all_hex) return Fail(begin, "expected \"0x...\"");
  const std::string raw = absl::HexStringToBytes(text.substr(2));
  std::vector<uint8_t> bytes(raw.begin(), raw.end());
  const int64_t count = shape.ElementCount();
  const int64_t size = StorageBytes(shape.type());
  const int64_t have = static_cast<int64_t>(bytes.size());
  // Types of fewer bits than a byte hold one on 64; the low bits count.
  auto normalise = [&](uint8_t* element) {
    if (BitWidth(shape.type()) < 8) {
      StoreInt(shape.type(), *element, element);
    } else if (shape.type() == PrimitiveType::kPred) {
      *element = *element != 0;
    }
  };
  if (have == size && count != 1) {
    normalise(bytes.data());
    *literal = Literal::SplatBytes(shape, bytes);
    return true;
  }
  if (have == count * size) {
    for (int64_t i = 0; size == 1 && i < count; ++i) normalise(&bytes[i]);
    *literal = Literal::FromBytes(shape, std::move(bytes));
    return true;
  }
  // i1 was once packed, eight to a byte.
  if (shape.type() == PrimitiveType::kPred && have == (count + 7) / 8) {
    std::vector<uint8_t> bits(count);
    for (int64_t i = 0; i < count; ++i) bits[i] = (bytes[i / 8] >> (i % 8)) & 1;
    *literal = Literal::FromBytes(shape, std::move(bits));
    return true;
  }
  return Fail(begin, absl::StrCat(have, " bytes are no ", shape.ToString()));
}

bool ValueParser::Dense(Attr* attr) {
  attr->kind = Attr::Kind::kDense;
  const char* word_at = at();
  absl::string_view word, body;
  if (!Word(&word)) return false;
  const char* open = at();
  if (Peek() != '<') return FailHere("expected \"<\"");
  // The type comes behind the values and says how to read them.
  if (!Balanced(&body) || !Expect(":") || !ParseType(&attr->type)) return false;
  const Shape& shape = attr->type.shape;
  if (!shape.IsArray() || shape.HasUnboundedDims()) {
    return Fail(word_at, "constants are tensors of known size");
  }
  if (shape.ElementCount() > kMaxElements) {
    return Fail(word_at, "the constant is too large");
  }
  const char* behind = at();
  Literal literal;
  if (word != "dense" || body == "<__elided__>") {
    // The values lie in another file, or were left out.
    literal = Literal::Elided(shape);
  } else {
    Seek(open);
    if (!Expect("<")) return false;
    if (Peek() == '"' ? !DenseHex(shape, &literal)
                      : !DenseElements(shape, &literal)) {
      return false;
    }
    if (!Expect(">")) return false;
  }
  Seek(behind);
  attr->dense = std::make_shared<const Literal>(std::move(literal));
  return true;
}

}  // namespace ptxla::hlo::mlir
