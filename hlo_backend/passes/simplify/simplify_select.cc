#include <utility>

#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// Counts 0, 1, 2 ... along one dimension, of fewer numbers than make -1.
bool Counts(const Instruction& value) {
  const Instruction* iota =
      value.opcode() == Opcode::kBroadcast ? value.operand(0) : &value;
  return iota->opcode() == Opcode::kIota && !iota->shape().IsScalar() &&
         BitWidth(iota->shape().type()) == 32 &&
         IsInteger(iota->shape().type());
}

// Made of one array, step by step: whoever reads that can make it again.
bool IsOfOneArray(const Instruction* i) {
  constexpr int kDeepest = 16;
  for (int depth = 0; depth < kDeepest && i->IsElementwise(); ++depth) {
    const Instruction* array = nullptr;
    for (const Instruction* o : i->operands()) {
      if (o->opcode() == Opcode::kBroadcast || o->IsConstant()) continue;
      if (array != nullptr) return false;
      array = o;
    }
    if (array == nullptr) return false;
    i = array;
  }
  return !i->IsElementwise();
}

// The value whose maximum with `bound` the first one is, or null.
Instruction* BehindMaximum(const Instruction& maximum,
                           const Instruction& bound) {
  if (maximum.opcode() != Opcode::kMaximum) return nullptr;
  for (int k = 0; k < 2; ++k) {
    const Instruction* other = maximum.operand(1 - k);
    if (other == &bound || (IsAll(*other, 0) && IsAll(bound, 0))) {
      return maximum.operand(k);
    }
  }
  return nullptr;
}

// What is chosen where a padded mask holds, of an array that is padded as the
// mask is: torch_xla's gradient of a slice.
//
//   select(pad(true, false), pad(x, 0), broadcast(c))  ==>  pad(x, c)
Instruction* MaskedPad(Instruction* select, Builder& b) {
  const Instruction *mask = select->operand(0), *x = select->operand(1);
  Instruction* rest = BroadcastScalarOf(*select->operand(2));
  if (rest == nullptr || mask->opcode() != Opcode::kPad ||
      x->opcode() != Opcode::kPad || !IsAll(*mask->operand(0), 1) ||
      !IsAll(*mask->operand(1), 0) ||
      mask->attrs<PadAttrs>().dims != x->attrs<PadAttrs>().dims) {
    return nullptr;
  }
  return b.Pad(x->operand(0), rest, x->attrs<PadAttrs>().dims);
}

}  // namespace

// and(compare(broadcast(labels), iota, EQ), broadcast(mask)) is
// compare(broadcast(select(mask, labels, -1)), iota, EQ): a row that is masked
// out equals none, and no element asks twice.
Instruction* SimplifyOneHotMask(Instruction* i, Rewriter& r) {
  if (i->shape().type() != PrimitiveType::kPred) return nullptr;
  for (const auto& [one_hot, mask] :
       {std::pair(i->operand(0), i->operand(1)),
        std::pair(i->operand(1), i->operand(0))}) {
    if (one_hot->opcode() != Opcode::kCompare ||
        one_hot->attrs<CompareAttrs>().direction != CompareDirection::kEq ||
        mask->opcode() != Opcode::kBroadcast) {
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      Instruction* labels = one_hot->operand(k);
      Instruction* count = one_hot->operand(1 - k);
      if (!Counts(*count) || labels->opcode() != Opcode::kBroadcast ||
          labels->dimensions() != mask->dimensions() ||
          labels->operand(0)->shape().IsScalar()) {
        continue;
      }
      Builder& b = r.builder();
      Instruction* of_row = labels->operand(0);
      const PrimitiveType type = of_row->shape().type();
      const double last = IsUnsigned(type) ? 0xFFFFFFFF : -1;
      Instruction* none = b.BroadcastScalar(b.ConstantScalar(type, last),
                                            of_row->shape().dims());
      Instruction* shown = b.Select(mask->operand(0), of_row, none);
      return b.Compare(
          b.Broadcast(shown, labels->shape().dims(), labels->dimensions()),
          count, CompareDirection::kEq);
    }
  }
  return nullptr;
}

Instruction* SimplifySelect(Instruction* i, Rewriter& r) {
  Builder& b = r.builder();
  if (i->opcode() == Opcode::kSelect) {
    Instruction *pred = i->operand(0), *yes = i->operand(1),
                *no = i->operand(2);
    if (yes == no) return yes;
    if (IsAll(*pred, 1)) return yes;
    if (IsAll(*pred, 0)) return no;
    if (pred->opcode() == Opcode::kNot) {
      return b.Select(pred->operand(0), no, yes);
    }
    if (pred->shape().IsScalar() && !i->shape().IsScalar()) {
      return b.Select(b.BroadcastScalar(pred, i->shape().dims()), yes, no);
    }
    // select(p, true, false) and the like.
    if (i->shape().type() == PrimitiveType::kPred && IsAll(*yes, 1) &&
        IsAll(*no, 0)) {
      return pred;
    }
    return i->shape().has_layout() ? nullptr : MaskedPad(i, b);
  }
  // Compare. max(x, c) > c says x > c: the gradient of an activation then reads
  // what the activation reads. Both are false for NaN.
  if (i->attrs<CompareAttrs>().direction == CompareDirection::kGt) {
    Instruction* x = BehindMaximum(*i->operand(0), *i->operand(1));
    if (x != nullptr && IsOfOneArray(x)) {
      return b.Compare(x, i->operand(1), CompareDirection::kGt);
    }
  }
  // NaN makes x == x false, so integers only.
  const PrimitiveType type = i->operand(0)->shape().type();
  if (i->operand(0) != i->operand(1) || IsFloat(type) || IsComplex(type)) {
    return nullptr;
  }
  const CompareDirection direction = i->attrs<CompareAttrs>().direction;
  const bool value = direction == CompareDirection::kEq ||
                     direction == CompareDirection::kLe ||
                     direction == CompareDirection::kGe;
  Instruction* constant = b.ConstantScalar(PrimitiveType::kPred, value);
  return i->shape().IsScalar() ? constant
                               : b.BroadcastScalar(constant, i->shape().dims());
}

}  // namespace ptxla::hlo
