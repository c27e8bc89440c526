#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// Row `k` of s32[rank, N].
Instruction* IndicesAlong(Instruction* indices, int64_t k, Builder& b) {
  if (indices->opcode() == Opcode::kConcatenate &&
      indices->dimensions()[0] == 0 &&
      indices->operand_count() == indices->shape().dim(0)) {
    return indices->operand(static_cast<int>(k));
  }
  return b.Slice(indices, {k, 0}, {k + 1, indices->shape().dim(1)});
}

}  // namespace

Instruction* SimplifyGatherOfTranspose(Instruction* i, Rewriter& r) {
  if (!GathersElements(*i) || i->operand(0)->shape().rank() == 1 ||
      i->shape().has_layout()) {
    return nullptr;
  }
  Instruction* table = i->operand(0);
  if (table->opcode() != Opcode::kTranspose || table->user_count() != 1 ||
      table->IsRoot() || HasControlEdges(*table)) {
    return nullptr;
  }
  std::vector<Instruction*> along(table->shape().rank());
  for (size_t k = 0; k < along.size(); ++k) {
    along[table->dimensions()[k]] =
        IndicesAlong(i->operand(1), static_cast<int64_t>(k), r.builder());
  }
  return r.builder().Gather(table->operand(0),
                            r.builder().Concatenate(along, 0),
                            i->attrs<GatherAttrs>());
}

}  // namespace ptxla::hlo
