#include "lazy/device_data.h"

#include "base/check.h"
#include "base/hash.h"

namespace ptxla::lazy {

hlo::Literal Materialize(const HostValue& value, const TensorShape& shape) {
  const hlo::Shape hlo_shape = hlo::Shape::Array(shape.type(), shape.dims());
  const bool is_float = hlo::IsFloat(shape.type());
  switch (value.kind) {
    case HostValue::Kind::kNone:
      break;
    case HostValue::Kind::kLiteral:
      return *value.literal;
    case HostValue::Kind::kConstant:
      return is_float ? hlo::Literal::Splat(hlo_shape, value.a)
                      : hlo::Literal::SplatInt(hlo_shape,
                                               static_cast<int64_t>(value.a));
    case HostValue::Kind::kRange: {
      hlo::Literal literal(hlo_shape);
      const int64_t minor = shape.IsScalar() ? 1 : shape.dim(shape.rank() - 1);
      for (int64_t i = 0; i < shape.ElementCount(); ++i) {
        literal.SetInt(i, i % minor);
      }
      return literal;
    }
    case HostValue::Kind::kUniform: {
      hlo::Literal literal(hlo_shape);
      const auto low = static_cast<int64_t>(value.a);
      const auto span = static_cast<uint64_t>(value.b - value.a);
      for (int64_t i = 0; i < shape.ElementCount(); ++i) {
        const uint64_t bits = HashCombine(value.seed, i);
        if (is_float) {
          const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
          literal.SetDouble(i, value.a + (value.b - value.a) * unit);
        } else {
          literal.SetInt(i, low + static_cast<int64_t>(span ? bits % span : 0));
        }
      }
      return literal;
    }
  }
  CHECK(false) << "a buffer of " << shape.ToString()
               << " has no value on the host";
  return hlo::Literal();
}

}  // namespace ptxla::lazy
