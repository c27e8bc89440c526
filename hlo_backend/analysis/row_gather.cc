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

}  // namespace ptxla::hlo
