#include "hlo_backend/passes/layout/reduce_shaper.h"

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

Instruction* Shaped(Instruction* reduce) {
  if (reduce->operand_count() != 2 || reduce->shape().rank() < 2 ||
      !MonoidOf(*reduce->to_apply()).has_value()) {
    return nullptr;
  }
  Instruction* x = reduce->operand(0);
  const int rank = x->shape().rank();
  const absl::Span<const int64_t> reduced = reduce->dimensions();
  if (!Contains(reduced, rank - 1) || !Contains(reduced, rank - 2)) {
    return nullptr;
  }
  DimVector majors, rest;
  for (int d = 0; d + 2 < rank; ++d) {
    majors.push_back(x->shape().dim(d));
    if (Contains(reduced, d)) rest.push_back(d);
  }
  Builder b(reduce->parent());
  b.set_metadata(reduce->shared_metadata());
  Instruction* start = reduce->operand(1);
  // Of two reduces the last one begins with a start that counts once.
  Instruction* first =
      rest.empty() || StartMayRepeat(*reduce)
          ? start
          : NeutralStart(*MonoidOf(*reduce->to_apply()), x->shape().type(), b);
  Instruction* planes = b.Reshape(
      x, {Product(majors), x->shape().dim(rank - 2), x->shape().dim(rank - 1)});
  Instruction* sums =
      b.Reshape(b.Reduce(planes, first, {1, 2}, reduce->to_apply()), majors);
  return rest.empty() ? sums : b.Reduce(sums, start, rest, reduce->to_apply());
}

}  // namespace

absl::StatusOr<bool> ReduceShaperPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kReduce || i->shape().has_layout()) continue;
      Instruction* value = Shaped(i);
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
