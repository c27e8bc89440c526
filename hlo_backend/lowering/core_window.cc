#include "hlo_backend/lowering/core_window.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;

isa::WindowDim CorePart(const SharedSteps& steps, int64_t of_step,
                        int64_t in_unit, int64_t extent, int64_t stride) {
  const int64_t first = steps.FirstOfSecondCore(), most = steps.Most();
  isa::WindowDim d;
  d.block = CeilOfRatio(most * of_step, in_unit);
  d.origin = first * of_step / in_unit - d.block;
  if (first == most) d.origin = 0;
  d.extent = extent;
  d.hbm_stride = d.vmem_stride = stride;
  d.grid_dim = steps.grid_dim;
  d.grid_divisor = first == most ? first : 1;
  if (first == most) return d;
  for (int64_t s = 0; s < steps.bound; ++s) {
    d.table.push_back(s < first ? 0 : 1);
  }
  return d;
}

Sca WholeBase(Sca slot, const isa::WindowDim& part, const SharedSteps& steps,
              CodeBuilder& b) {
  const Sca index = b.NewSca();
  b.GridIndex(index, part.grid_dim);
  Sca base =
      b.SAddImm(slot, static_cast<int32_t>(-part.origin * part.hbm_stride));
  const auto back = static_cast<int32_t>(-part.block * part.hbm_stride);
  for (int core = 1; core < steps.cores; ++core) {
    const auto begins = static_cast<int32_t>(steps.bound * core / steps.cores);
    const codegen::Pred below =
        b.SCompareImm(isa::Opcode::kScmpLtU, index, begins);
    // Of a later core: one part more lies in front.
    base = b.SAdd(base, b.SSelectImm(below, b.SImm(0), back));
  }
  return base;
}

int SharedDim(absl::Span<const int64_t> grid, int cores) {
  int best = -1;
  const auto saves = [&](int64_t bound) {
    return static_cast<double>(bound) /
           static_cast<double>(CeilOfRatio<int64_t>(bound, cores));
  };
  for (size_t d = 0; d < grid.size(); ++d) {
    if (grid[d] <= 1) continue;
    const bool better = best < 0 || saves(grid[d]) > saves(grid[best]) ||
                        (saves(grid[d]) == saves(grid[best]) && cores > 1 &&
                         grid[d] > grid[best]);
    if (better) best = static_cast<int>(d);
  }
  return best;
}

}  // namespace ptxla::lowering
