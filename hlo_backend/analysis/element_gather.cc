#include "hlo_backend/analysis/element_gather.h"

#include <numeric>

namespace ptxla::hlo {

bool GathersElements(const Instruction& gather) {
  if (gather.opcode() != Opcode::kGather) return false;
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& table = gather.operand(0)->shape();
  const Shape& indices = gather.operand(1)->shape();
  const int rank = table.rank();
  if (rank < 1 || rank > kMostIndexed || BitWidth(table.type()) > 32 ||
      BitWidth(table.type()) < 8 || BitWidth(indices.type()) != 32) {
    return false;
  }
  DimVector all(rank);
  std::iota(all.begin(), all.end(), 0);
  if (a.start_index_map != all || a.collapsed_slice_dims != all ||
      !a.operand_batching_dims.empty()) {
    return false;
  }
  if (rank == 1) return indices.rank() == 1 && a.index_vector_dim == 1;
  return indices.rank() == 2 && indices.dim(0) == rank &&
         indices.type() == PrimitiveType::kS32 && a.index_vector_dim == 0;
}

}  // namespace ptxla::hlo
