#include "hlo_backend/passes/layout/squeeze_to_reduce.h"

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// The last dimension, the one in the lanes, is 1 and goes; a register's worth
// of numbers or more is behind it.
bool DropsTheLanes(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().rank() < 1) return false;
  const Shape& from = i.operand(0)->shape();
  const int last = from.rank() - 1;
  if (from.rank() != i.shape().rank() + 1 || from.dim(last) != 1) return false;
  for (int d = 0; d < last; ++d) {
    if (from.dim(d) != i.shape().dim(d)) return false;
  }
  return i.shape().dim(last - 1) > 1;
}

// An operation with an identity that leaves every value as it is: of floats
// -0 + x, not 0 + x.
Instruction* NeutralValue(Builder* b, PrimitiveType type) {
  return IsFloat(type) ? b->ConstantScalar(type, -0.0) : b->Zero(type);
}

}  // namespace

absl::StatusOr<bool> SqueezeToReducePass::Run(Module* module,
                                              const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    if (c->IsFusionComputation()) continue;
    for (Instruction* i : c->PostOrder()) {
      if (!DropsTheLanes(*i)) continue;
      const PrimitiveType type = i->shape().type();
      // Numbers of whole words: packed ones do not lie in lanes alone.
      if (BitWidth(type) != 32) continue;
      const Opcode op = IsFloat(type) ? Opcode::kAdd : Opcode::kOr;
      Builder b(c);
      b.set_metadata(i->shared_metadata());
      const int64_t last = i->operand(0)->shape().rank() - 1;
      c->Replace(i, b.Reduce(i->operand(0), NeutralValue(&b, type), {last},
                             b.Scalar2(op, type)));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
