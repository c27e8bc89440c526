// Literals: the values of constants.
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/charconv.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/element_value.h"
#include "hlo_backend/ir/reader.h"

namespace ptxla::hlo {
namespace {

// More elements than this are refused before memory is taken for them.
constexpr int64_t kMaxElements = int64_t{1} << 31;

// absl::from_chars takes no '+'.
absl::string_view WithoutPlus(absl::string_view text) {
  return !text.empty() && text[0] == '+' ? text.substr(1) : text;
}

bool FitsInteger(PrimitiveType type, int64_t value) {
  const int bits = BitWidth(type);
  if (type == PrimitiveType::kPred) return value == 0 || value == 1;
  if (bits == 64) return IsSigned(type) || value >= 0;
  if (IsSigned(type)) {
    return value >= -(int64_t{1} << (bits - 1)) &&
           value < (int64_t{1} << (bits - 1));
  }
  return value >= 0 && value < (int64_t{1} << bits);
}

}  // namespace

bool Reader::LiteralValue(const Shape& shape, Literal* literal) {
  if (Is('{') && lex_.Peek().kind == TokenKind::kEllipsis) {
    lex_.Next();
    lex_.Next();
    *literal = Literal::Elided(shape);
    return Expect('}');
  }
  if (shape.IsTuple()) {
    if (!Expect('(')) return false;
    std::vector<Literal> elements(shape.element_count_of_tuple());
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0 && !Expect(',')) return false;
      // Older texts repeat the shape of every element.
      Shape written;
      if (AtShape() && !Is('(') && !ShapeValue(&written)) return false;
      if (!LiteralValue(shape.element(static_cast<int>(i)), &elements[i])) {
        return false;
      }
    }
    if (!Expect(')')) return false;
    *literal = Literal::Tuple(std::move(elements));
    return true;
  }
  if (shape.IsToken()) {
    *literal = Literal(shape);
    return AcceptName("token") || Is(')') || Expected("token");
  }
  if (!shape.IsArray() || shape.HasUnboundedDims()) {
    return Fail(at(), absl::StrCat("no constant can have the shape ",
                                   shape.ToString()));
  }
  if (shape.ElementCount() > kMaxElements) {
    return Fail(at(), absl::StrCat("a constant of ", shape.ElementCount(),
                                   " elements is too large"));
  }
  // Every written element takes at least two characters ("1,"): checked
  // before memory is taken.
  const int64_t left = lex_.text().data() + lex_.text().size() - at();
  if (shape.ElementCount() > left) {
    return Fail(at(),
                absl::StrCat("the text is too short for ", shape.ToString()));
  }
  std::vector<uint8_t> bytes(shape.ElementCount() * StorageBytes(shape.type()));
  uint8_t* out = bytes.data();
  if (!Elements(shape, 0, &out)) return false;
  *literal = Literal::FromBytes(shape, std::move(bytes));
  return true;
}

bool Reader::Elements(const Shape& shape, int dim, uint8_t** out) {
  if (dim == shape.rank()) {
    if (!Element(shape.type(), *out)) return false;
    *out += StorageBytes(shape.type());
    return true;
  }
  if (!Expect('{')) return false;
  const char* begin = at();
  int64_t n = 0;
  for (; !Is('}'); ++n) {
    if (n == shape.dim(dim)) {
      return Fail(at(),
                  absl::StrCat("dimension ", dim, " of ", shape.ToString(),
                               " has more elements than ", n));
    }
    if (!Elements(shape, dim + 1, out)) return false;
    if (!Accept(',')) {
      ++n;
      break;
    }
  }
  // An array without elements may leave out its inner brackets.
  if (n != shape.dim(dim) && !(n == 0 && shape.ElementCount() == 0)) {
    return Fail(begin, absl::StrCat("dimension ", dim, " of ", shape.ToString(),
                                    " has ", n, " elements here, not ",
                                    shape.dim(dim)));
  }
  return Expect('}');
}

bool Reader::Element(PrimitiveType type, uint8_t* out) {
  if (IsComplex(type)) {
    const PrimitiveType part = ComplexComponent(type);
    if (!Is('(')) return FloatElement(part, out);
    return Expect('(') && FloatElement(part, out) && Expect(',') &&
           FloatElement(part, out + StorageBytes(part)) && Expect(')');
  }
  if (IsFloat(type)) return FloatElement(type, out);
  int64_t value;
  if (type == PrimitiveType::kPred && AcceptName("true")) {
    value = 1;
  } else if (type == PrimitiveType::kPred && AcceptName("false")) {
    value = 0;
  } else {
    if (token().kind != TokenKind::kInteger) {
      return Expected(type == PrimitiveType::kPred ? "true or false"
                                                   : "an integer");
    }
    uint64_t wide;
    if (absl::SimpleAtoi(token().text, &value)) {
      if (!FitsInteger(type, value)) {
        return Fail(at(), absl::StrCat(token().text, " is out of range for ",
                                       PrimitiveTypeName(type)));
      }
    } else if (type == PrimitiveType::kU64 &&
               absl::SimpleAtoi(token().text, &wide)) {
      value = static_cast<int64_t>(wide);
    } else {
      return Fail(at(), absl::StrCat(token().text, " is out of range for ",
                                     PrimitiveTypeName(type)));
    }
    lex_.Next();
  }
  StoreInt(type, value, out);
  return true;
}

bool Reader::FloatElement(PrimitiveType type, uint8_t* out) {
  const Token t = token();
  if (t.kind == TokenKind::kName) {
    const bool negative = t.text[0] == '-';
    const absl::string_view word = negative ? t.text.substr(1) : t.text;
    if (word == "nan") {
      lex_.Next();
      return NanPayload(type, negative, out);
    }
    if (word != "inf") return Expected("a number");
    const double inf = std::numeric_limits<double>::infinity();
    lex_.Next();
    StoreDouble(type, negative ? -inf : inf, out);
    return true;
  }
  if (t.kind != TokenKind::kInteger && t.kind != TokenKind::kDecimal) {
    return Expected("a number");
  }
  const absl::string_view text = WithoutPlus(t.text);
  // f32 is read as f32: through double it would be rounded twice.
  if (type == PrimitiveType::kF32) {
    float value;
    absl::from_chars(text.data(), text.data() + text.size(), value);
    std::memcpy(out, &value, sizeof(value));
  } else {
    double value;
    absl::from_chars(text.data(), text.data() + text.size(), value);
    StoreDouble(type, value, out);
  }
  lex_.Next();
  return true;
}

bool Reader::NanPayload(PrimitiveType type, bool negative, uint8_t* out) {
  StoreDouble(type, std::numeric_limits<double>::quiet_NaN(), out);
  const int bytes = StorageBytes(type);
  uint64_t bits = 0;
  std::memcpy(&bits, out, bytes);
  if (Accept('(')) {
    const int mantissa = type == PrimitiveType::kF64    ? 52
                         : type == PrimitiveType::kF32  ? 23
                         : type == PrimitiveType::kF16  ? 10
                         : type == PrimitiveType::kBf16 ? 7
                                                        : 0;
    uint64_t payload;
    if ((token().kind != TokenKind::kDigits &&
         token().kind != TokenKind::kInteger) ||
        !absl::SimpleHexAtoi(token().text, &payload)) {
      return Expected("the payload of a NaN");
    }
    const uint64_t mask = (uint64_t{1} << mantissa) - 1;
    if (payload == 0 || payload > mask) {
      return Fail(
          at(), absl::StrCat("the payload ", token().text,
                             " is out of range for ", PrimitiveTypeName(type)));
    }
    bits = (bits & ~mask) | payload;
    lex_.Next();
    if (!Expect(')')) return false;
  }
  const uint64_t sign = uint64_t{1} << (BitWidth(type) - 1);
  // Formats with one NaN have no sign for it.
  if (type == PrimitiveType::kF32 || type == PrimitiveType::kF64 ||
      type == PrimitiveType::kF16 || type == PrimitiveType::kBf16 ||
      type == PrimitiveType::kF8E5M2 || type == PrimitiveType::kF8E4M3 ||
      type == PrimitiveType::kF8E4M3Fn || type == PrimitiveType::kF8E3M4) {
    bits = negative ? bits | sign : bits & ~sign;
  }
  std::memcpy(out, &bits, bytes);
  return true;
}

}  // namespace ptxla::hlo
