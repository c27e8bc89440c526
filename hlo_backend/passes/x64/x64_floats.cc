// X64Eliminator: f64.
#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {

absl::StatusOr<X64Pair> X64Eliminator::FloatValue(Instruction* i) {
  auto pair = [&](int k) { return PairOf(i->operand(k)); };
  switch (i->opcode()) {
    case Opcode::kConvert: {
      Instruction* x = i->operand(0);
      if (x->shape().type() == PrimitiveType::kF64) return pair(0);
      return IsX64(x->shape())
                 ? more_.IntegerToF64(pair(0), IsSigned(x->shape().type()))
                 : more_.ToF64(x);
    }
    case Opcode::kDivide:
      return more_.FloatDivide(pair(0), pair(1));
    case Opcode::kAbs:
      if (IsComplex(i->operand(0)->shape().type())) return Refuse(*i);
      return more_.FloatAbs(pair(0));
    case Opcode::kMaximum:
      return more_.FloatSelect(pair(0), pair(1), CompareDirection::kGe);
    case Opcode::kMinimum:
      return more_.FloatSelect(pair(0), pair(1), CompareDirection::kLe);
    case Opcode::kClamp:
      return more_.FloatSelect(more_.FloatSelect(pair(1), Spread(pair(0), *i),
                                                 CompareDirection::kGe),
                               Spread(pair(2), *i), CompareDirection::kLe);
    case Opcode::kSqrt:
      return more_.FloatSqrt(pair(0));
    case Opcode::kFloor:
      return more_.FloatFloor(pair(0));
    case Opcode::kRoundNearestEven:
      return more_.FloatRoundEven(pair(0));
    case Opcode::kRoundNearestAfz:
      return more_.FloatRoundAway(pair(0));
    case Opcode::kRemainder:
      return more_.FloatRemainder(pair(0), pair(1));
    case Opcode::kCeil:
      return math_.FloatNegate(more_.FloatFloor(math_.FloatNegate(pair(0))));
    case Opcode::kAdd:
      return math_.FloatAdd(pair(0), pair(1));
    case Opcode::kSubtract:
      return math_.FloatAdd(pair(0), math_.FloatNegate(pair(1)));
    case Opcode::kMultiply:
      return math_.FloatMultiply(pair(0), pair(1));
    case Opcode::kNegate:
      return math_.FloatNegate(pair(0));
    default:
      break;
  }
  std::vector<X64Pair> operands;
  for (Instruction* o : i->operands()) {
    if (o->shape().type() != PrimitiveType::kF64) return Refuse(*i);
    operands.push_back(PairOf(o));
  }
  if (const auto value = more_.OfHighParts(i->opcode(), operands)) {
    return *value;
  }
  return Refuse(*i);
}
}  // namespace ptxla::hlo
