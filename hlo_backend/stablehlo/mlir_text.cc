#include "hlo_backend/stablehlo/mlir_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"

namespace ptxla::hlo::mlir {
namespace {

// MLIR prints longer lists that are not all the same in hexadecimal.
constexpr int64_t kHexAbove = 100;

absl::StatusOr<std::string> ElementTypeText(PrimitiveType type) {
  const absl::string_view name = PrimitiveTypeName(type);
  switch (type) {
    case PrimitiveType::kPred:
      return std::string("i1");
    case PrimitiveType::kS1:
    case PrimitiveType::kU1:
      return absl::UnimplementedError(
          absl::StrCat("StableHLO has no type ", name));
    case PrimitiveType::kC64:
      return std::string("complex<f32>");
    case PrimitiveType::kC128:
      return std::string("complex<f64>");
    default:
      break;
  }
  switch (ClassOf(type)) {
    case TypeClass::Signed:
      return absl::StrCat("i", name.substr(1));
    case TypeClass::Unsigned:
      return absl::StrCat("ui", name.substr(1));
    case TypeClass::Float: {
      // f8e4m3fn is f8E4M3FN.
      if (type == PrimitiveType::kBf16) return std::string(name);
      return absl::StrCat("f", absl::AsciiStrToUpper(name.substr(1)));
    }
    default:
      return absl::UnimplementedError(
          absl::StrCat("StableHLO has no type ", name));
  }
}

// One digit before the point, as many behind it as the value needs.
std::string Scientific(double value, int digits, int enough) {
  char text[40];
  for (;; digits = enough) {
    std::snprintf(text, sizeof(text), "%.*e", digits, value);
    if (digits == enough || std::strtod(text, nullptr) == value) return text;
  }
}

std::string HexOf(const uint8_t* bytes, int size) {
  std::string text = "0x";
  for (int b = size - 1; b >= 0; --b) {
    absl::StrAppend(&text, absl::Hex(bytes[b], absl::kZeroPad2));
  }
  return absl::StrCat("0x", absl::AsciiStrToUpper(text.substr(2)));
}

std::string FloatFrom(PrimitiveType type, const uint8_t* bytes) {
  const int size = StorageBytes(type);
  Literal one =
      Literal::SplatBytes(Shape::Scalar(type), absl::MakeSpan(bytes, size));
  const double value = one.GetDouble(0);
  if (!std::isfinite(value)) return HexOf(bytes, size);
  if (type == PrimitiveType::kF64) return Scientific(value, 6, 16);
  char text[40];
  std::snprintf(text, sizeof(text), "%.6e", value);
  one.SetDouble(0, std::strtod(text, nullptr));
  if (one.GetDouble(0) == value) return text;
  return Scientific(value, 8, 8);
}

void AppendElement(const Literal& literal, int64_t i, std::string* out) {
  const PrimitiveType type = literal.shape().type();
  if (type == PrimitiveType::kPred) {
    out->append(literal.GetInt(i) != 0 ? "true" : "false");
  } else if (IsComplex(type)) {
    const PrimitiveType part = ComplexComponent(type);
    const uint8_t* bytes = literal.element(i);
    absl::StrAppend(out, "(", FloatFrom(part, bytes), ",",
                    FloatFrom(part, bytes + StorageBytes(part)), ")");
  } else if (IsFloat(type)) {
    out->append(FloatText(literal, i));
  } else if (type == PrimitiveType::kU64) {
    absl::StrAppend(out, static_cast<uint64_t>(literal.GetInt(i)));
  } else {
    absl::StrAppend(out, literal.GetInt(i));
  }
}

// The list from dimension d on, of which element *next is the first.
void AppendList(const Literal& literal, int d, int64_t* next,
                std::string* out) {
  if (d == literal.shape().rank()) {
    AppendElement(literal, (*next)++, out);
    return;
  }
  out->push_back('[');
  for (int64_t i = 0; i < literal.shape().dim(d); ++i) {
    if (i > 0) out->append(", ");
    AppendList(literal, d + 1, next, out);
  }
  out->push_back(']');
}

// Raw bytes mean the same to every version of MLIR.
bool MayBeHex(PrimitiveType type) {
  return (IsFloat(type) || IsInteger(type)) && BitWidth(type) >= 8;
}

}  // namespace

std::string FloatText(const Literal& literal, int64_t i) {
  return FloatFrom(literal.shape().type(), literal.element(i));
}

std::string RealText(double value) {
  return FloatText(Literal::Scalar<double>(value), 0);
}

absl::StatusOr<std::string> TypeText(const Shape& shape) {
  if (shape.IsToken()) return std::string("!stablehlo.token");
  if (shape.IsTuple()) {
    std::string text = "tuple<";
    for (const Shape& e : shape.elements()) {
      ASSIGN_OR_RETURN(const std::string element, TypeText(e));
      absl::StrAppend(&text, text.back() == '<' ? "" : ", ", element);
    }
    return absl::StrCat(text, ">");
  }
  ASSIGN_OR_RETURN(const std::string element, ElementTypeText(shape.type()));
  std::string text = "tensor<";
  std::string bounds;
  bool bounded = false;
  for (int d = 0; d < shape.rank(); ++d) {
    absl::StrAppend(&bounds, d == 0 ? "" : ", ");
    if (shape.dim(d) == Shape::kUnbounded || !shape.is_dynamic_dim(d)) {
      bounds.push_back('?');
    } else {
      absl::StrAppend(&bounds, shape.dim(d));
      bounded = true;
    }
    if (shape.is_dynamic_dim(d) || shape.dim(d) == Shape::kUnbounded) {
      text.append("?x");
    } else {
      absl::StrAppend(&text, shape.dim(d), "x");
    }
  }
  text.append(element);
  if (bounded) absl::StrAppend(&text, ", #stablehlo.bounds<", bounds, ">");
  return absl::StrCat(text, ">");
}

absl::StatusOr<std::string> DenseText(const Literal& literal) {
  ASSIGN_OR_RETURN(const std::string type, TypeText(literal.shape()));
  if (literal.IsElided()) {
    return absl::StrCat("dense_resource<__elided__> : ", type);
  }
  std::string text = "dense<";
  const int64_t count = literal.ElementCount();
  if (count > 0 && literal.IsUniform()) {
    AppendElement(literal, 0, &text);
  } else if (count > kHexAbove && MayBeHex(literal.shape().type())) {
    const absl::Span<const uint8_t> bytes = literal.bytes();
    const std::string raw = absl::BytesToHexString(absl::string_view(
        reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    absl::StrAppend(&text, "\"0x", absl::AsciiStrToUpper(raw), "\"");
  } else if (count > 0) {
    int64_t next = 0;
    AppendList(literal, 0, &next, &text);
  }
  return absl::StrCat(text, "> : ", type);
}

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (absl::ascii_isprint(c) && c != '"' && c != '\\') {
      out.push_back(c);
    } else if (c == '\\') {
      out.append("\\\\");
    } else {
      const std::string hex =
          absl::StrCat(absl::Hex(static_cast<uint8_t>(c), absl::kZeroPad2));
      absl::StrAppend(&out, "\\", absl::AsciiStrToUpper(hex));
    }
  }
  return out + "\"";
}

std::string SymbolText(absl::string_view name) {
  bool bare = !name.empty() && (absl::ascii_isalpha(name[0]) || name[0] == '_');
  for (const char c : name) {
    bare &= absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$';
  }
  return absl::StrCat("@", bare ? std::string(name) : Quoted(name));
}

std::string ListText(absl::Span<const int64_t> values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

std::string ArrayText(absl::Span<const int64_t> values) {
  if (values.empty()) return "array<i64>";
  return absl::StrCat("array<i64: ", absl::StrJoin(values, ", "), ">");
}

std::string RowsText(absl::Span<const int64_t> values, int64_t columns) {
  const int64_t rows =
      columns == 0 ? 0 : static_cast<int64_t>(values.size()) / columns;
  Literal literal(Shape::Array(PrimitiveType::kS64, {rows, columns}));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.SetInt(static_cast<int64_t>(i), values[i]);
  }
  return *DenseText(literal);
}

}  // namespace ptxla::hlo::mlir
