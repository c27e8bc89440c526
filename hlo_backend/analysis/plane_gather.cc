#include "hlo_backend/analysis/plane_gather.h"

namespace ptxla::hlo {

bool GathersPlanes(const Instruction& gather) {
  if (gather.opcode() != Opcode::kGather) return false;
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& table = gather.operand(0)->shape();
  const Shape& rows = gather.operand(1)->shape();
  const bool column = rows.rank() == 2 && rows.dim(1) == 1;
  if (table.rank() < 3 || gather.shape().rank() != table.rank() ||
      (rows.rank() != 1 && !column) || a.index_vector_dim != 1 ||
      a.start_index_map != DimVector{0} ||
      a.collapsed_slice_dims != DimVector{0} ||
      !a.operand_batching_dims.empty()) {
    return false;
  }
  for (int d = 1; d < table.rank(); ++d) {
    if (a.offset_dims[d - 1] != d || a.slice_sizes[d] != table.dim(d)) {
      return false;
    }
  }
  return true;
}

}  // namespace ptxla::hlo
