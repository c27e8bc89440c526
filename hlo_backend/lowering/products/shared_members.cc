#include "hlo_backend/lowering/products/shared_members.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {

bool SharedMembers::Fits(int64_t block) const {
  if (count == 1) return true;
  if (block <= inner) return inner % block == 0;
  if (block % inner != 0) return false;
  const int64_t planes = block / inner;
  return count % planes == 0 || planes % count == 0;
}

int64_t SharedMembers::Planes(int64_t block) const {
  return std::min(count, std::max<int64_t>(1, block / inner));
}

int64_t SharedMembers::Moves(int64_t block, int64_t steps) const {
  if (Planes(block) == count) return 1;
  return CeilOfRatio(steps, std::max<int64_t>(1, inner / block));
}

void ShareWindow(const SharedMembers& members, int64_t block, int grid_dim,
                 const std::vector<int64_t>& grid, isa::Window* window) {
  isa::WindowDim& planes = window->dims[0];
  const int64_t of_step = members.Planes(block);
  window->slot_bytes -= (planes.block - of_step) * planes.vmem_stride;
  planes.block = of_step;
  planes.extent = members.count;
  planes.grid_dim = -1;
  if (of_step < members.count && grid[grid_dim] > 1) {
    planes.grid_dim = grid_dim;
    planes.grid_divisor = std::max<int64_t>(1, members.inner / block);
    const int64_t entries = CeilOfRatio(grid[grid_dim], planes.grid_divisor);
    const int64_t blocks = members.count / of_step;
    for (int64_t i = 0; i < entries && entries > blocks; ++i) {
      planes.table.push_back(i % blocks);
    }
  }
  const bool moves = std::any_of(
      window->dims.begin(), window->dims.end(), [&](const isa::WindowDim& d) {
        return d.grid_dim >= 0 && grid[d.grid_dim] > 1;
      });
  window->slots = moves ? 2 : 1;
}

}  // namespace ptxla::lowering
