#include "hlo_backend/passes/simplify/algebraic_simplifier.h"

#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

Instruction* Simplify(Instruction* i, Rewriter& r) {
  switch (i->opcode()) {
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kCopy:
      return SimplifyReshape(i, r);
    case Opcode::kBroadcast:
      return SimplifyBroadcast(i, r);
    case Opcode::kTranspose:
      return SimplifyTranspose(i, r);
    case Opcode::kDot:
      return SimplifyDot(i, r);
    case Opcode::kReduce:
      return SimplifyReduce(i, r);
    case Opcode::kIota:
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad:
    case Opcode::kConcatenate:
    case Opcode::kReverse:
      return SimplifySlicing(i, r);
    case Opcode::kGather:
      return SimplifyGatherOfTranspose(i, r);
    default:
      break;
  }
  if (!i->IsElementwise() || !i->shape().IsArray()) return nullptr;
  Instruction* value = nullptr;
  if (i->opcode() == Opcode::kConvert) value = SimplifyConvert(i, r);
  if (i->opcode() == Opcode::kBitcastConvert) {
    value = SimplifyBitcastConvert(i, r);
  }
  if (i->opcode() == Opcode::kCompare || i->opcode() == Opcode::kSelect) {
    value = SimplifySelect(i, r);
  }
  if (i->opcode() == Opcode::kMinimum || i->opcode() == Opcode::kMaximum) {
    value = SimplifyBounds(i, r);
  }
  if (i->opcode() == Opcode::kAnd) value = SimplifyOneHotMask(i, r);
  if (i->opcode() == Opcode::kAdd) {
    value = SimplifySumOfPads(i, r);
    if (value == nullptr) value = SimplifySumOfScatter(i, r);
  }
  if (value == nullptr) value = SimplifyIdentity(i, r);
  if (value == nullptr) value = SimplifyBroadcastOperands(i, r);
  if (value == nullptr) value = SimplifyUnits(i, r);
  return value;
}

}  // namespace

absl::StatusOr<bool> AlgebraicSimplifierPass::Run(Module* module,
                                                  const PassContext& context) {
  bool changed = false;
  for (Computation* c : module->ComputationPostOrder()) {
    if (c->IsFusionComputation()) continue;
    changed |= Rewriter(c, context.options).Run(Simplify);
  }
  return changed;
}

}  // namespace ptxla::hlo
