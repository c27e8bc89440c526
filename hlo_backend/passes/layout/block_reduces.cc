#include "hlo_backend/passes/layout/block_reduces.h"

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/point_work.h"

namespace ptxla::hlo {

Instruction* OverPlanes(Instruction* reduce, int generation) {
  if (reduce->opcode() != Opcode::kReduce || reduce->operand_count() != 2 ||
      HasControlEdges(*reduce)) {
    return nullptr;
  }
  Instruction* blocks = reduce->operand(0);
  const int last = blocks->shape().rank() - 1;
  if (!SplitsLanes(*blocks) || !HasFewNumbers(*blocks) ||
      blocks->user_count() != 1 || reduce->dimensions().size() != 1 ||
      reduce->dimensions()[0] != last) {
    return nullptr;
  }
  DimVector order = {last};
  for (int d = 0; d < last; ++d) order.push_back(d);
  const Shape planes = Shape::Array(blocks->shape().type(),
                                    Permuted(blocks->shape().dims(), order));
  const int64_t then = 4 * TpuBytes(blocks->operand(0)->shape(), generation) +
                       2 * TpuBytes(planes, generation);
  if (then * chips::WholePolicy("reshape_gain") >
      2 * TpuBytes(blocks->shape(), generation)) {
    return nullptr;
  }
  Builder b(reduce->parent());
  b.set_metadata(reduce->shared_metadata());
  return b.Reduce(b.Transpose(blocks, order), reduce->operand(1), {0},
                  reduce->called()[0]);
}

}  // namespace ptxla::hlo
