#include <cmath>
#include <limits>

#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

bool Is(const Instruction* i, Opcode op) { return i->opcode() == op; }

// A constant c with x / c == x * (1 / c) exactly.
bool IsPowerOfTwo(double c) {
  int exponent;
  return std::isfinite(c) && std::fabs(std::frexp(c, &exponent)) == 0.5 &&
         std::abs(exponent) < 100;
}

// The type has 1 / c, off by no more than a rounding to bf16 is: narrow floats
// overflow, or have too few bits.
bool HasReciprocal(PrimitiveType type, double c) {
  Literal reciprocal(Shape::Scalar(type));
  reciprocal.SetDouble(0, 1 / c);
  return std::fabs(reciprocal.GetDouble(0) * c - 1) <= 0x1p-8;
}

// Of a number whose value only the chip knows: it has a reciprocal but for the
// ends of the range.
bool HasRangeOfF32(PrimitiveType type) {
  return type == PrimitiveType::kF32 || type == PrimitiveType::kBf16 ||
         type == PrimitiveType::kF64;
}

Instruction* Divide(Instruction* i, Rewriter& r) {
  Instruction *x = i->operand(0), *y = i->operand(1);
  if (IsAll(*y, 1)) return x;
  const PrimitiveType type = i->shape().type();
  if (!IsFloat(type)) return nullptr;
  Builder& b = r.builder();
  if (const Literal* c = ScalarConstantOf(*y)) {
    const double value = c->GetDouble(0);
    if (value == 0 || !std::isfinite(value)) return nullptr;
    if (!IsPowerOfTwo(value) && !r.options().allow_excess_precision) {
      return nullptr;
    }
    if (!HasReciprocal(type, value)) return nullptr;
    Instruction* reciprocal = b.ConstantScalar(type, 1 / value);
    if (!i->shape().IsScalar()) {
      reciprocal = b.BroadcastScalar(reciprocal, i->shape().dims());
    }
    return b.Multiply(x, reciprocal);
  }
  // One reciprocal instead of a division per element.
  Instruction* scalar = BroadcastScalarOf(*y);
  if (scalar == nullptr || !r.options().allow_excess_precision ||
      !HasRangeOfF32(type)) {
    return nullptr;
  }
  return b.Multiply(
      x, b.BroadcastScalar(b.Divide(b.One(type), scalar), i->shape().dims()));
}

Instruction* Power(Instruction* i, Rewriter& r) {
  Instruction *x = i->operand(0), *y = i->operand(1);
  Builder& b = r.builder();
  if (!IsFloat(i->shape().type())) return nullptr;
  if (IsAll(*y, 1)) return x;
  if (IsAll(*y, 2)) return b.Multiply(x, x);
  if (IsAll(*y, 3)) return b.Multiply(x, b.Multiply(x, x));
  if (IsAll(*y, -1)) {
    Instruction* one = b.One(i->shape().type());
    if (!i->shape().IsScalar()) {
      one = b.BroadcastScalar(one, i->shape().dims());
    }
    return b.Divide(one, x);
  }
  return nullptr;
}

// min or max with the value that never wins.
bool IsNeutral(const Instruction& value, Opcode op) {
  const PrimitiveType type = value.shape().type();
  const double infinity = std::numeric_limits<double>::infinity();
  if (IsFloat(type)) {
    return IsAll(value, op == Opcode::kMaximum ? -infinity : infinity);
  }
  return type == PrimitiveType::kPred &&
         IsAll(value, op == Opcode::kMaximum ? 0 : 1);
}

Instruction* Logical(Instruction* i) {
  Instruction *x = i->operand(0), *y = i->operand(1);
  if (x == y && !Is(i, Opcode::kXor)) return x;
  const bool pred = i->shape().type() == PrimitiveType::kPred;
  if (Is(i, Opcode::kAnd)) {
    if (pred && IsAll(*y, 1)) return x;
    if (IsAll(*y, 0)) return y;
  } else {
    if (IsAll(*y, 0)) return x;
    if (pred && Is(i, Opcode::kOr) && IsAll(*y, 1)) return y;
  }
  return nullptr;
}

}  // namespace

Instruction* SimplifyIdentity(Instruction* i, Rewriter& r) {
  const PrimitiveType type = i->shape().type();
  if (IsComplex(type)) return nullptr;
  switch (i->opcode()) {
    case Opcode::kAdd:
      // -0 + 0 is +0: the sign of a zero is excess precision too.
      return IsAll(*i->operand(1), 0) ? i->operand(0) : nullptr;
    case Opcode::kSubtract:
      if (IsAll(*i->operand(1), 0)) return i->operand(0);
      return nullptr;
    case Opcode::kMultiply:
      if (IsAll(*i->operand(1), 1)) return i->operand(0);
      if (!IsFloat(type) && IsAll(*i->operand(1), 0)) return i->operand(1);
      return nullptr;
    case Opcode::kDivide:
      return Divide(i, r);
    case Opcode::kPower:
      return Power(i, r);
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (i->operand(0) == i->operand(1)) return i->operand(0);
      return IsNeutral(*i->operand(1), i->opcode()) ? i->operand(0) : nullptr;
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return Logical(i);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return IsAll(*i->operand(1), 0) ? i->operand(0) : nullptr;
    case Opcode::kNegate:
    case Opcode::kNot:
      return Is(i->operand(0), i->opcode()) ? i->operand(0)->operand(0)
                                            : nullptr;
    case Opcode::kLog:
      // log(exp(x)) is x, but for what overflows.
      return Is(i->operand(0), Opcode::kExp) &&
                     r.options().allow_excess_precision
                 ? i->operand(0)->operand(0)
                 : nullptr;
    default:
      return nullptr;
  }
}

Instruction* SimplifyBroadcastOperands(Instruction* i, Rewriter& r) {
  Builder& b = r.builder();
  // Constants to the right, so that other rules look at one side only.
  if (IsCommutative(i->opcode()) && i->operand_count() == 2 &&
      ScalarConstantOf(*i->operand(0)) != nullptr &&
      ScalarConstantOf(*i->operand(1)) == nullptr) {
    return i->parent()->AddLike(*i, i->shape(), {i->operand(1), i->operand(0)});
  }
  if (i->shape().IsScalar()) return nullptr;
  // All operands broadcast from one smaller shape, the same way, or from
  // scalars: do the work there.
  const Instruction* widest = nullptr;
  for (const Instruction* operand : i->operands()) {
    if (operand->opcode() != Opcode::kBroadcast) return nullptr;
    if (operand->operand(0)->shape().IsScalar()) continue;
    if (widest == nullptr) widest = operand;
    if (widest->dimensions() != operand->dimensions() ||
        !widest->operand(0)->shape().SameDims(operand->operand(0)->shape())) {
      return nullptr;
    }
  }
  const DimVector small_dims =
      widest ? widest->operand(0)->shape().dims() : DimVector();
  const DimVector mapping = widest ? DimVector(widest->dimensions().begin(),
                                               widest->dimensions().end())
                                   : DimVector();
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands()) {
    Instruction* source = operand->operand(0);
    if (widest != nullptr && source->shape().IsScalar()) {
      source = b.BroadcastScalar(source, small_dims);
    }
    operands.push_back(source);
  }
  if (operands.empty()) return nullptr;
  Instruction* small = i->parent()->AddLike(
      *i, Shape::Array(i->shape().type(), small_dims), operands);
  return b.Broadcast(small, i->shape().dims(), mapping);
}

}  // namespace ptxla::hlo
