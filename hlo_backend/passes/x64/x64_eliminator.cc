#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {

bool HasX64(const Shape& shape) {
  bool has = false;
  ForEachLeaf(
      shape, [&](const Shape& leaf, const ShapeIndex&) { has |= IsX64(leaf); });
  return has;
}

absl::StatusOr<bool> X64Eliminator::Run() {
  bool changed = false;
  for (Instruction* i : c_->PostOrder()) {
    bool touches = HasX64(i->shape());
    for (const Instruction* o : i->operands()) touches |= IsX64(o->shape());
    if (!touches || i->opcode() == Opcode::kParameter) continue;
    b_.set_metadata(i->shared_metadata());
    ASSIGN_OR_RETURN(const bool this_one, Visit(i));
    changed |= this_one;
  }
  if (Instruction* root = c_->root(); pairs_.contains(root)) {
    c_->SetRoot(Combined(root));
    changed = true;
  }
  if (changed) c_->RemoveDead();
  return changed;
}

absl::StatusOr<bool> X64Eliminator::Visit(Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kTuple:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kCustomCall:
    case Opcode::kRngBitGenerator:
    case Opcode::kOptimizationBarrier:
      // Results of 64 bits stay whole; who reads them splits them.
      return TakeWhole(i);
    case Opcode::kGetTupleElement:
      return false;
    case Opcode::kGather:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 1, 1);
    case Opcode::kScatter:
      if (HasX64(i->shape())) break;
      return NarrowIndices(i, i->operand_count() / 2, 1);
    case Opcode::kDynamicSlice:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 1, i->operand_count() - 1);
    case Opcode::kDynamicUpdateSlice:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 2, i->operand_count() - 2);
    case Opcode::kConvert:
      if (!IsX64(i->shape())) {
        Instruction* x = i->operand(0);
        const X64Pair pair = PairOf(x);
        const PrimitiveType to = i->shape().type();
        if (IsComplex(to)) return Refuse(*i);
        Instruction* value;
        if (x->shape().type() != PrimitiveType::kF64) {
          value = math_.ToNarrow(pair, to, IsSigned(x->shape().type()));
        } else {
          value = more_.F64ToNarrow(pair, to);
        }
        c_->Replace(i, value);
        return true;
      }
      break;
    case Opcode::kCompare: {
      const PrimitiveType type = i->operand(0)->shape().type();
      if (IsComplex(type)) break;
      const CompareDirection direction = i->attrs<CompareAttrs>().direction;
      const X64Pair x = PairOf(i->operand(0)), y = PairOf(i->operand(1));
      c_->Replace(i, type == PrimitiveType::kF64
                         ? math_.FloatCompare(x, y, direction,
                                              i->attrs<CompareAttrs>().type)
                         : math_.Compare(x, y, direction, IsSigned(type)));
      return true;
    }
    case Opcode::kIsFinite:
      c_->Replace(i, b_.IsFinite(PairOf(i->operand(0)).high));
      return true;
    case Opcode::kSort:
      return Sorted(i);
    case Opcode::kBitcastConvert:
      if (i->operand(0)->shape().rank() != i->shape().rank()) {
        return Words(i);
      }
      break;
    default:
      break;
  }
  if (!IsX64(i->shape())) {
    if (i->operand_count() == 0 || !i->operand(0)->shape().IsArray() ||
        i->operand(0)->shape().type() != PrimitiveType::kC64) {
      return Refuse(*i);
    }
    ASSIGN_OR_RETURN(Instruction * value, OfComplex(i));
    c_->Replace(i, value);
    return true;
  }
  ASSIGN_OR_RETURN(const X64Pair pair, Value(i));
  SetPair(i, pair);
  return true;
}

absl::StatusOr<X64Pair> X64Eliminator::Value(Instruction* i) {
  const bool is_float = i->shape().type() == PrimitiveType::kF64;
  const bool is_complex = IsComplex(i->shape().type());
  auto pair = [&](int k) { return PairOf(i->operand(k)); };
  switch (i->opcode()) {
    case Opcode::kConstant:
      if (is_complex) break;
      return math_.Constant(i->literal());
    case Opcode::kIota: {
      Instruction* low = Like(*i, {});
      Instruction* zero =
          b_.BroadcastScalar(b_.Zero(low->shape().type()), low->shape().dims());
      return is_float ? X64Pair{zero, low} : X64Pair{low, zero};
    }
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kCopy:
    case Opcode::kAddDependency:
      return Move(*i, 1);
    case Opcode::kPad:
      return Move(*i, 2);
    case Opcode::kConcatenate:
      return Move(*i, i->operand_count());
    case Opcode::kAllGather:
    case Opcode::kAllToAll:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectiveBroadcast:
      if (i->operand_count() != 1) return Refuse(*i);
      return Move(*i, 1);
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
      return Move(*i, 1);
    case Opcode::kDynamicUpdateSlice:
      return Move(*i, 2);
    case Opcode::kSelect:
      return X64Pair{c_->AddLike(*i, pair(1).low->shape(),
                                 {i->operand(0), pair(1).low, pair(2).low}),
                     c_->AddLike(*i, pair(1).low->shape(),
                                 {i->operand(0), pair(1).high, pair(2).high})};
    case Opcode::kReduce:
      return Reduced(i);
    case Opcode::kScatter:
      return Scattered(i);
    default:
      break;
  }
  if (is_complex) return ComplexValue(i);
  if (is_float) return FloatValue(i);
  const bool is_signed = IsSigned(i->shape().type());
  switch (i->opcode()) {
    case Opcode::kConvert:
      if (!IsX64(i->operand(0)->shape())) {
        Instruction* x = i->operand(0);
        return IsFloat(x->shape().type()) ? math_.FromFloat(x, is_signed)
                                          : math_.FromNarrow(x);
      }
      return i->operand(0)->shape().type() == PrimitiveType::kF64
                 ? more_.F64ToInteger(pair(0), is_signed)
                 : pair(0);
    case Opcode::kBitcastConvert:
      // An f64 is no pair of its own words.
      if (i->operand(0)->shape().type() == PrimitiveType::kF64) {
        return Refuse(*i);
      }
      return pair(0);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      return more_.Divide(pair(0), pair(1), is_signed,
                          i->opcode() == Opcode::kRemainder);
    case Opcode::kPower:
      return more_.Power(pair(0), pair(1), is_signed);
    case Opcode::kClz:
      return more_.Clz(pair(0));
    case Opcode::kPopulationCount:
      return more_.PopulationCount(pair(0));
    case Opcode::kSign:
      return is_signed ? more_.Sign(pair(0))
                       : math_.FromNarrow(math_.ToNarrow(
                             pair(0), PrimitiveType::kPred, false));
    case Opcode::kClamp: {
      const X64Pair low = Spread(pair(0), *i), high = Spread(pair(2), *i);
      const X64Pair x = pair(1);
      const auto choose = [&](X64Pair a, X64Pair c, CompareDirection wins) {
        return math_.Select(math_.Compare(a, c, wins, is_signed), a, c);
      };
      return choose(choose(x, low, CompareDirection::kGe), high,
                    CompareDirection::kLe);
    }
    case Opcode::kAdd:
      return math_.Add(pair(0), pair(1));
    case Opcode::kSubtract:
      return math_.Subtract(pair(0), pair(1));
    case Opcode::kMultiply:
      return math_.Multiply(pair(0), pair(1));
    case Opcode::kNegate:
      return math_.Negate(pair(0));
    case Opcode::kAbs:
      return is_signed ? math_.Abs(pair(0)) : pair(0);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return math_.Bitwise(i->opcode(), pair(0), pair(1));
    case Opcode::kNot:
      return math_.Not(pair(0));
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return math_.Shift(i->opcode(), pair(0), pair(1));
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const CompareDirection wins = i->opcode() == Opcode::kMaximum
                                        ? CompareDirection::kGe
                                        : CompareDirection::kLe;
      Instruction* first = math_.Compare(pair(0), pair(1), wins, is_signed);
      return math_.Select(first, pair(0), pair(1));
    }
    default:
      return Refuse(*i);
  }
}
}  // namespace ptxla::hlo
