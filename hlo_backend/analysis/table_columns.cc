#include "hlo_backend/analysis/table_columns.h"

namespace ptxla::hlo {

bool GathersColumns(const Instruction& gather) {
  if (gather.opcode() != Opcode::kGather) return false;
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& table = gather.operand(0)->shape();
  return table.rank() == 2 && gather.shape().rank() == 2 &&
         gather.operand(1)->shape().rank() == 1 &&
         BitWidth(gather.operand(1)->shape().type()) == 32 &&
         a.offset_dims == DimVector{0} &&
         a.collapsed_slice_dims == DimVector{1} &&
         a.start_index_map == DimVector{1} && a.operand_batching_dims.empty() &&
         a.index_vector_dim == 1 && a.slice_sizes[1] == 1 &&
         a.slice_sizes[0] == table.dim(0);
}

bool ScattersColumns(const Instruction& scatter) {
  if (scatter.opcode() != Opcode::kScatter || scatter.operand_count() != 3) {
    return false;
  }
  const auto& a = scatter.attrs<ScatterAttrs>();
  const Shape& updates = scatter.operand(2)->shape();
  return scatter.shape().rank() == 2 && updates.rank() == 2 &&
         BitWidth(scatter.shape().type()) == 32 &&
         scatter.operand(1)->shape().rank() == 1 &&
         BitWidth(scatter.operand(1)->shape().type()) == 32 &&
         a.update_window_dims == DimVector{0} &&
         a.inserted_window_dims == DimVector{1} &&
         a.scatter_dims_to_operand_dims == DimVector{1} &&
         a.input_batching_dims.empty() && a.index_vector_dim == 1 &&
         updates.dim(0) == scatter.shape().dim(0);
}

}  // namespace ptxla::hlo
