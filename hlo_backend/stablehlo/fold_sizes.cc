#include "hlo_backend/stablehlo/fold_sizes.h"

#include <algorithm>
#include <limits>

namespace ptxla::hlo::mlir {
namespace {

constexpr int64_t kMost = 64;

bool IsCounted(const Shape& shape) {
  return shape.IsArray() && !shape.HasDynamicDims() &&
         (IsInteger(shape.type()) || shape.type() == PrimitiveType::kPred) &&
         shape.ElementCount() <= kMost;
}

std::optional<bool> Compared(const Instruction& i, int64_t a, int64_t b) {
  switch (i.attrs<CompareAttrs>().direction) {
    case CompareDirection::kEq:
      return a == b;
    case CompareDirection::kNe:
      return a != b;
    case CompareDirection::kGe:
      return a >= b;
    case CompareDirection::kGt:
      return a > b;
    case CompareDirection::kLe:
      return a <= b;
    case CompareDirection::kLt:
      return a < b;
  }
  return std::nullopt;
}

// Sizes are far from the ends of s64: no sum of them wraps.
std::optional<int64_t> OfTwo(const Instruction& i, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (i.opcode()) {
    case Opcode::kAdd:
      return __builtin_add_overflow(a, b, &out) ? std::nullopt
                                                : std::make_optional(out);
    case Opcode::kSubtract:
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt
                                                : std::make_optional(out);
    case Opcode::kMultiply:
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt
                                                : std::make_optional(out);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
        return std::nullopt;
      }
      return i.opcode() == Opcode::kDivide ? a / b : a % b;
    case Opcode::kMaximum:
      return std::max(a, b);
    case Opcode::kMinimum:
      return std::min(a, b);
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    case Opcode::kXor:
      return a ^ b;
    case Opcode::kCompare:
      return Compared(i, a, b);
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> OfOne(const Instruction& i, int64_t a) {
  switch (i.opcode()) {
    case Opcode::kConvert:
      return i.shape().type() == PrimitiveType::kPred ? a != 0 : a;
    case Opcode::kReshape:
    case Opcode::kCopy:
      return a;
    case Opcode::kNegate:
      return -a;
    case Opcode::kSign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Opcode::kAbs:
      return a < 0 ? -a : a;
    case Opcode::kNot:
      return i.shape().type() == PrimitiveType::kPred ? a == 0 : ~a;
    default:
      return std::nullopt;
  }
}

// Element k of the result.
std::optional<int64_t> Element(const Instruction& i, int64_t k) {
  const auto at = [&](int operand, int64_t index) {
    return i.operand(operand)->literal().GetInt(index);
  };
  switch (i.opcode()) {
    case Opcode::kBroadcast:
      return i.operand(0)->shape().ElementCount() == 1
                 ? std::make_optional(at(0, 0))
                 : std::nullopt;
    case Opcode::kConcatenate: {
      int operand = 0;
      for (; k >= i.operand(operand)->shape().ElementCount(); ++operand) {
        k -= i.operand(operand)->shape().ElementCount();
      }
      return at(operand, k);
    }
    case Opcode::kSlice: {
      const SliceAttrs& slice = i.attrs<SliceAttrs>();
      return at(0, slice.starts[0] + k * slice.strides[0]);
    }
    case Opcode::kSelect:
      return at(0, i.operand(0)->shape().IsScalar() ? 0 : k) != 0 ? at(1, k)
                                                                  : at(2, k);
    case Opcode::kClamp: {
      const auto bound = [&](int operand) {
        return at(operand, i.operand(operand)->shape().IsScalar() ? 0 : k);
      };
      return std::min(std::max(at(1, k), bound(0)), bound(2));
    }
    default:
      return i.operand_count() == 1   ? OfOne(i, at(0, k))
             : i.operand_count() == 2 ? OfTwo(i, at(0, k), at(1, k))
                                      : std::nullopt;
  }
}

// Elements in order stay in order.
bool KeepsOrder(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConcatenate:
      return i.dimensions()[0] == 0;
    case Opcode::kSlice:
      return i.shape().rank() == 1;
    default:
      return true;
  }
}

}  // namespace

std::optional<Literal> FoldSizes(const Instruction& i) {
  if (!IsCounted(i.shape()) || i.operand_count() == 0) return std::nullopt;
  if (i.opcode() == Opcode::kGetDimensionSize) {
    const Shape& of = i.operand(0)->shape();
    const auto d = static_cast<int>(i.dimensions()[0]);
    if (of.is_dynamic_dim(d) || of.dim(d) < 0) return std::nullopt;
    return Literal::SplatInt(i.shape(), of.dim(d));
  }
  for (const Instruction* operand : i.operands()) {
    if (!operand->IsConstant() || !IsCounted(operand->shape()) ||
        operand->literal().IsElided()) {
      return std::nullopt;
    }
  }
  if (!KeepsOrder(i)) return std::nullopt;
  Literal out(i.shape());
  for (int64_t k = 0; k < i.shape().ElementCount(); ++k) {
    const std::optional<int64_t> value = Element(i, k);
    if (!value.has_value()) return std::nullopt;
    out.SetInt(k, *value);
  }
  return out;
}

}  // namespace ptxla::hlo::mlir
