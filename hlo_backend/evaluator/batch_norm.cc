// Batch normalisation: statistics over all dimensions but the feature's, in
// double, as HLO defines it (variance without Bessel's correction).
#include <cmath>

#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {
namespace {

// The operand as [before][features][after] of doubles.
struct Featured {
  int64_t before = 1, features = 1, after = 1;
  int64_t count() const { return before * after; }

  Featured(const Shape& shape, int64_t feature) {
    for (int d = 0; d < shape.rank(); ++d) {
      if (d < feature) before *= shape.dim(d);
      if (d > feature) after *= shape.dim(d);
    }
    features = shape.dim(static_cast<int>(feature));
  }
  // fn(feature, element place) for every element, in memory order.
  template <class Fn>
  void ForEach(Fn fn) const {
    int64_t at = 0;
    for (int64_t b = 0; b < before; ++b) {
      for (int64_t f = 0; f < features; ++f) {
        for (int64_t a = 0; a < after; ++a) fn(f, at++);
      }
    }
  }
};

absl::StatusOr<Value> Doubles(const Value& x) {
  ASSIGN_OR_RETURN(Value wide, ConvertTo(x, PrimitiveType::kF64));
  return wide.Dense();
}

absl::StatusOr<Value> FromDoubles(const std::vector<double>& values,
                                  const Shape& shape) {
  Shape wide = shape;
  wide.set_type(PrimitiveType::kF64);
  Value v = Value::NewArray(wide);
  std::copy(values.begin(), values.end(), v.MutableAs<double>());
  ASSIGN_OR_RETURN(v, ConvertTo(v, shape.type()));
  return v.WithShape(shape);
}

}  // namespace

absl::StatusOr<Value> EvalBatchNormTraining(OpContext&, const Instruction& i,
                                            absl::Span<Value> operands) {
  const BatchNormAttrs& attrs = i.attrs<BatchNormAttrs>();
  const Featured dims(operands[0].shape(), attrs.feature_index);
  ASSIGN_OR_RETURN(const Value x, Doubles(operands[0]));
  ASSIGN_OR_RETURN(const Value scale, Doubles(operands[1]));
  ASSIGN_OR_RETURN(const Value offset, Doubles(operands[2]));
  const double* v = x.as<double>();
  const double n = static_cast<double>(dims.count());
  std::vector<double> mean(dims.features), variance(dims.features);
  dims.ForEach([&](int64_t f, int64_t at) { mean[f] += v[at]; });
  for (double& m : mean) m /= n;
  dims.ForEach([&](int64_t f, int64_t at) {
    variance[f] += (v[at] - mean[f]) * (v[at] - mean[f]);
  });
  std::vector<double> factor(dims.features);
  for (int64_t f = 0; f < dims.features; ++f) {
    variance[f] /= n;
    factor[f] = scale.as<double>()[f] / std::sqrt(variance[f] + attrs.epsilon);
  }
  std::vector<double> out(x.count());
  dims.ForEach([&](int64_t f, int64_t at) {
    out[at] = (v[at] - mean[f]) * factor[f] + offset.as<double>()[f];
  });
  std::vector<Value> results(3);
  ASSIGN_OR_RETURN(results[0], FromDoubles(out, i.shape().element(0)));
  ASSIGN_OR_RETURN(results[1], FromDoubles(mean, i.shape().element(1)));
  ASSIGN_OR_RETURN(results[2], FromDoubles(variance, i.shape().element(2)));
  return Value::NewTuple(ShapeOf(i), std::move(results));
}

absl::StatusOr<Value> EvalBatchNormInference(OpContext&, const Instruction& i,
                                             absl::Span<Value> operands) {
  const BatchNormAttrs& attrs = i.attrs<BatchNormAttrs>();
  const Featured dims(operands[0].shape(), attrs.feature_index);
  std::vector<Value> in(5);
  for (int k = 0; k < 5; ++k) {
    ASSIGN_OR_RETURN(in[k], Doubles(operands[k]));
  }
  const double* v = in[0].as<double>();
  std::vector<double> factor(dims.features);
  for (int64_t f = 0; f < dims.features; ++f) {
    factor[f] = in[1].as<double>()[f] /
                std::sqrt(in[4].as<double>()[f] + attrs.epsilon);
  }
  std::vector<double> out(in[0].count());
  dims.ForEach([&](int64_t f, int64_t at) {
    out[at] =
        (v[at] - in[3].as<double>()[f]) * factor[f] + in[2].as<double>()[f];
  });
  return FromDoubles(out, i.shape());
}

// Operands: x, scale, mean, variance, gradient of the output. Results: the
// gradients of x, scale and offset.
absl::StatusOr<Value> EvalBatchNormGrad(OpContext&, const Instruction& i,
                                        absl::Span<Value> operands) {
  const BatchNormAttrs& attrs = i.attrs<BatchNormAttrs>();
  const Featured dims(operands[0].shape(), attrs.feature_index);
  std::vector<Value> in(5);
  for (int k = 0; k < 5; ++k) {
    ASSIGN_OR_RETURN(in[k], Doubles(operands[k]));
  }
  const double* v = in[0].as<double>();
  const double* mean = in[2].as<double>();
  const double* grad = in[4].as<double>();
  const double n = static_cast<double>(dims.count());
  std::vector<double> inverse(dims.features), scale_grad(dims.features),
      offset_grad(dims.features);
  for (int64_t f = 0; f < dims.features; ++f) {
    inverse[f] = 1 / std::sqrt(in[3].as<double>()[f] + attrs.epsilon);
  }
  dims.ForEach([&](int64_t f, int64_t at) {
    offset_grad[f] += grad[at];
    scale_grad[f] += grad[at] * (v[at] - mean[f]) * inverse[f];
  });
  std::vector<double> x_grad(in[0].count());
  dims.ForEach([&](int64_t f, int64_t at) {
    const double normal = (v[at] - mean[f]) * inverse[f];
    x_grad[at] = in[1].as<double>()[f] * inverse[f] / n *
                 (n * grad[at] - offset_grad[f] - normal * scale_grad[f]);
  });
  std::vector<Value> results(3);
  ASSIGN_OR_RETURN(results[0], FromDoubles(x_grad, i.shape().element(0)));
  ASSIGN_OR_RETURN(results[1], FromDoubles(scale_grad, i.shape().element(1)));
  ASSIGN_OR_RETURN(results[2], FromDoubles(offset_grad, i.shape().element(2)));
  return Value::NewTuple(ShapeOf(i), std::move(results));
}

}  // namespace ptxla::hlo
