// The text of literals, as XLA prints constants on one line.
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "hlo_backend/ir/element_value.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {
namespace {

// Significant decimal digits that tell all values of a narrow type apart.
int Digits(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kBf16:
      return 4;
    case PrimitiveType::kF16:
      return 5;
    case PrimitiveType::kF8E5M2:
    case PrimitiveType::kF8E5M2Fnuz:
    case PrimitiveType::kF4E2M1Fn:
    case PrimitiveType::kF6E3M2Fn:
      return 2;
    default:
      return 3;
  }
}

// Sign and payload of the NaN in `bits`, whose quiet bit alone is `quiet`.
void AppendNan(uint64_t bits, int width, uint64_t quiet, std::string* out) {
  const uint64_t payload = bits & (2 * quiet - 1);
  if ((bits >> (width - 1)) & 1) out->push_back('-');
  out->append("nan");
  if (payload != quiet) absl::StrAppendFormat(out, "(0x%x)", payload);
}

void AppendFloat(PrimitiveType type, const uint8_t* bytes, std::string* out) {
  const double value = LoadDouble(type, bytes);
  if (std::isnan(value)) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes, StorageBytes(type));
    switch (type) {
      case PrimitiveType::kF64:
        return AppendNan(bits, 64, uint64_t{1} << 51, out);
      case PrimitiveType::kF32:
        return AppendNan(bits, 32, 1 << 22, out);
      case PrimitiveType::kF16:
        return AppendNan(bits, 16, 1 << 9, out);
      case PrimitiveType::kBf16:
        return AppendNan(bits, 16, 1 << 6, out);
      default:
        out->append(bits >> (BitWidth(type) - 1) &&
                            type != PrimitiveType::kF8E8M0Fnu
                        ? "-nan"
                        : "nan");
        return;
    }
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  if (type == PrimitiveType::kF32) {
    const float f = static_cast<float>(value);
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", f);
    if (std::strtof(text, nullptr) != f) {
      std::snprintf(text, sizeof(text), "%.9g", f);
    }
    out->append(text);
  } else if (type == PrimitiveType::kF64) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.15g", value);
    if (std::strtod(text, nullptr) != value) {
      std::snprintf(text, sizeof(text), "%.17g", value);
    }
    out->append(text);
  } else {
    absl::StrAppendFormat(out, "%.*g", Digits(type), value);
  }
}

void AppendElement(PrimitiveType type, const uint8_t* bytes, bool scalar,
                   std::string* out) {
  if (type == PrimitiveType::kPred) {
    if (scalar) {
      out->append(*bytes ? "true" : "false");
    } else {
      out->push_back(*bytes ? '1' : '0');
    }
  } else if (IsComplex(type)) {
    const PrimitiveType part = ComplexComponent(type);
    out->push_back('(');
    AppendFloat(part, bytes, out);
    out->append(", ");
    AppendFloat(part, bytes + StorageBytes(part), out);
    out->push_back(')');
  } else if (type == PrimitiveType::kU64) {
    absl::StrAppend(out, static_cast<uint64_t>(LoadInt(type, bytes)));
  } else if (IsInteger(type)) {
    absl::StrAppend(out, LoadInt(type, bytes));
  } else {
    AppendFloat(type, bytes, out);
  }
}

// The elements of dimensions `dim`.. from linear index `*next` on; `at` is the
// index of this part in dimension `dim` - 1, which XLA notes where there are
// more than three dimensions.
void AppendDims(const Literal& literal, int dim, int64_t at, int64_t* next,
                std::string* out) {
  const Shape& shape = literal.shape();
  const int64_t size = shape.dim(dim);
  if (dim == shape.rank() - 1) {
    // A row of a matrix is set apart by spaces, a vector is not.
    const bool spaces = shape.rank() > 1 && size > 1;
    out->append(spaces ? "{ " : "{");
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out->append(", ");
      AppendElement(shape.type(), literal.element((*next)++), false, out);
    }
    out->append(spaces ? " }" : "}");
    return;
  }
  out->append("{ ");
  if (shape.rank() > 3 && dim > 0 && size > 0) {
    absl::StrAppend(out, "/*i", dim - 1, "=", at, "*/ ");
  }
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out->append(", ");
    AppendDims(literal, dim + 1, i, next, out);
  }
  out->append(" }");
}

}  // namespace

std::string Literal::ToString() const {
  std::string out;
  AppendTo(&out);
  return out;
}

void Literal::AppendTo(std::string* out) const {
  if (elided_) {
    out->append("{...}");
    return;
  }
  if (IsTuple()) {
    out->append("( ");
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (i > 0) out->append(", ");
      elements_[i].AppendTo(out);
    }
    out->append(" )");
    return;
  }
  if (shape_.IsToken()) {
    out->append("token");
  } else if (shape_.rank() == 0) {
    AppendElement(shape_.type(), element(0), true, out);
  } else {
    int64_t next = 0;
    AppendDims(*this, 0, 0, &next, out);
  }
}

}  // namespace ptxla::hlo
