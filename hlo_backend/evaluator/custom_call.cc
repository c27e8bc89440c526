// The custom calls with a meaning that is known: annotations, the top-k of
// torch_xla and JAX, and the halves of 64-bit numbers that x64 elimination
// (hlo_backend/passes) uses at the borders of a program.
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/product.h"
#include "hlo_backend/ir/ragged_call.h"

namespace ptxla::hlo {
namespace {

// s64, u64: 32-bit words. f64: high = the nearest f32, low = the nearest f32
// to what is left (0 where high is not finite).
Value SplitHalf(const Value& operand, bool high, const Shape& shape) {
  const Value x = operand.Dense();
  Value out = Value::NewArray(shape);
  if (x.type() == PrimitiveType::kF64) {
    float* to = out.MutableAs<float>();
    for (int64_t k = 0; k < x.count(); ++k) {
      const double value = x.as<double>()[k];
      const float top = static_cast<float>(value);
      to[k] = high ? top
                   : (std::isfinite(top)
                          ? static_cast<float>(value - static_cast<double>(top))
                          : 0.0f);
    }
    return out;
  }
  uint32_t* to = out.MutableAs<uint32_t>();
  for (int64_t k = 0; k < x.count(); ++k) {
    const uint64_t value = x.as<uint64_t>()[k];
    to[k] = static_cast<uint32_t>(high ? value >> 32 : value);
  }
  return out;
}

Value Combine(const Value& first, const Value& second, const Shape& shape) {
  const Value low = first.Dense();
  const Value high = second.Dense();
  Value out = Value::NewArray(shape);
  if (shape.type() == PrimitiveType::kF64) {
    double* to = out.MutableAs<double>();
    for (int64_t k = 0; k < out.count(); ++k) {
      to[k] = static_cast<double>(high.as<float>()[k]) +
              static_cast<double>(low.as<float>()[k]);
    }
    return out;
  }
  uint64_t* to = out.MutableAs<uint64_t>();
  for (int64_t k = 0; k < out.count(); ++k) {
    to[k] = (static_cast<uint64_t>(high.as<uint32_t>()[k]) << 32) |
            low.as<uint32_t>()[k];
  }
  return out;
}

// Parts that lie one behind the other in memory are an array together: the
// dimension along which they do, or -1. Of several that could be, the outermost
// in memory.
int64_t JoinedDimension(const Shape& whole, absl::Span<const Value> parts) {
  if (!whole.IsArray()) return -1;
  std::vector<int64_t> order(whole.rank());
  for (int k = 0; k < whole.rank(); ++k) {
    order[k] =
        whole.has_layout() ? *(whole.layout().minor_to_major.rbegin() + k) : k;
  }
  for (const int64_t d : order) {
    int64_t sum = 0;
    bool fits = true;
    for (const Value& part : parts) {
      fits &= part.shape().IsArray() && part.shape().rank() == whole.rank() &&
              part.shape().type() == whole.type();
      for (int k = 0; fits && k < whole.rank(); ++k) {
        fits = k == d || part.shape().dim(k) == whole.dim(k);
      }
      if (!fits) break;
      sum += part.shape().dim(static_cast<int>(d));
    }
    if (fits && sum == whole.dim(static_cast<int>(d))) return d;
  }
  return -1;
}

bool IsAnnotation(absl::string_view target) {
  for (absl::string_view known :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
        "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier",
        "annotate_device_placement", "MoveToDevice", "MoveToHost",
        "LayoutConstraint", "AllocateBuffer", "AssumeGatherIndicesInBound",
        "GatherScatterIndicesBitpacked"}) {
    if (target == known) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Value> EvalCustomCall(OpContext& context, const Instruction& i,
                                     absl::Span<Value> operands) {
  const std::string& target = i.attrs<CustomCallAttrs>().target;
  if (target == "X64SplitLow" || target == "X64SplitHigh") {
    return SplitHalf(operands[0], target == "X64SplitHigh", i.shape());
  }
  if (target == "X64Combine") {
    return Combine(operands[0], operands[1], i.shape());
  }
  if (target == "ConcatBitcast") {
    const int64_t d = JoinedDimension(i.shape(), operands);
    if (d >= 0) return ConcatenateAlong(context, i, d, operands);
  }
  if (const auto ragged = RaggedCall::Of(i)) {
    return RaggedProduct(context, i, ragged->Attributes(), operands);
  }
  if (target == "TopK" && operands.size() == 1 && i.shape().IsTuple()) {
    return EvalTopK(context, i, operands);
  }
  if (target == "AllocateBuffer" && operands.empty()) {
    const uint64_t zero[2] = {0, 0};
    return Value::NewSplat(ShapeOf(i), zero);
  }
  if (IsAnnotation(target) && operands.size() == 1 &&
      (i.shape().IsTuple() || i.shape().SameDimsAndType(operands[0].shape()))) {
    return operands[0].WithShape(ShapeOf(i));
  }
  return absl::UnimplementedError(
      absl::StrCat("custom call \"", target, "\" has no known meaning"));
}

}  // namespace ptxla::hlo
