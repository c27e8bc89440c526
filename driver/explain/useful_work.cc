#include "driver/explain/useful_work.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/grid.h"
#include "isa/matmul_type.h"

namespace ptxla::driver {
namespace {

// Elements of an array over those of the blocks that cover it, 0..1.
double ShareOfElements(const hlo::Instruction& i, const isa::Kernel& kernel,
                       int cores) {
  const std::vector<const hlo::Shape*> leaves = lowering::KernelLeaves(i);
  int largest = -1;
  for (size_t k = 0; k < leaves.size() && k < kernel.args.size(); ++k) {
    if (largest < 0 || kernel.args[k].bytes > kernel.args[largest].bytes) {
      largest = static_cast<int>(k);
    }
  }
  if (largest < 0) return 1;
  for (size_t w = 0; w < kernel.windows.size(); ++w) {
    const isa::Window& window = kernel.windows[w];
    if (window.arg != largest) continue;
    int64_t block = window.inner_bytes;
    for (const isa::WindowDim& d : window.dims) block *= d.block;
    int64_t blocks = 0;
    for (int c = 0; c < cores; ++c) {
      blocks += isa::CountTransfers(kernel, static_cast<int>(w), c, cores);
    }
    const double covered = static_cast<double>(block) * blocks;
    const double asked = static_cast<double>(leaves[largest]->ByteSize());
    return covered <= 0 ? 1 : std::clamp(asked / covered, 0.0, 1.0);
  }
  return 1;
}

}  // namespace

int64_t UsefulCycles(const hlo::Instruction& instruction,
                     const isa::Kernel& kernel,
                     const sim::KernelAccount& account,
                     const chips::ChipSpec& chip,
                     const isa::MachineModel& machine) {
  const double needed =
      std::ceil(static_cast<double>(account.main.Busy(account.use)) /
                account.main.Ways(machine));
  if (account.main.unit != isa::ExecUnit::kMatmul) {
    return static_cast<int64_t>(std::floor(
        needed * ShareOfElements(instruction, kernel, account.cores)));
  }
  const double share = account.all_grid_steps == 0
                           ? 1
                           : static_cast<double>(account.grid_steps) /
                                 static_cast<double>(account.all_grid_steps);
  const double per_cycle = chip.PeakMatmul(isa::MatmulTypeOf(kernel)).count() /
                           chip.core().cores_per_chip /
                           chip.core().clock.frequency().count();
  return static_cast<int64_t>(
      std::floor(static_cast<double>(kernel.work.mxu_flops) * share /
                 std::max(1.0, per_cycle)));
}

}  // namespace ptxla::driver
