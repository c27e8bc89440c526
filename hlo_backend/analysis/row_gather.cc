#include "hlo_backend/analysis/row_gather.h"

namespace ptxla::hlo {
bool GathersRows(const Instruction& i) {
  if (i.opcode() != Opcode::kGather) return false;
  const auto& a = i.attrs<GatherAttrs>();
  const Shape& table = i.operand(0)->shape();
  return table.rank() == 2 && i.shape().rank() == 2 &&
         a.offset_dims == DimVector{1} &&
         a.collapsed_slice_dims == DimVector{0} &&
         a.start_index_map == DimVector{0} && a.operand_batching_dims.empty() &&
         a.index_vector_dim == 1 && a.slice_sizes[0] == 1 &&
         a.slice_sizes[1] == table.dim(1);
}

bool ScattersRows(const Instruction& i) {
  if (i.opcode() != Opcode::kScatter || i.operand_count() != 3) return false;
  const auto& a = i.attrs<ScatterAttrs>();
  const Shape& updates = i.operand(2)->shape();
  return BitWidth(i.shape().type()) == 32 && i.shape().rank() == 2 &&
         updates.rank() == 2 && a.update_window_dims == DimVector{1} &&
         a.inserted_window_dims == DimVector{0} &&
         a.scatter_dims_to_operand_dims == DimVector{0} &&
         a.input_batching_dims.empty() && a.index_vector_dim == 1 &&
         updates.dim(1) == i.shape().dim(1);
}

}  // namespace ptxla::hlo
