#include "hlo_backend/lowering/fusion/stream_buffers.h"

#include <algorithm>
#include <vector>

#include "chips/compiler_policy.h"
#include "memory_model/dma_pipeline.h"

namespace ptxla::lowering {
namespace {

// The innermost dimension of the grid that has several steps moves the window.
bool MovesInEveryStep(const Tiling& tiling, const isa::Window& w) {
  int inner = static_cast<int>(tiling.grid.size()) - 1;
  while (inner >= 0 && tiling.grid[inner] == 1) --inner;
  if (inner < 0) return false;
  return std::any_of(
      w.dims.begin(), w.dims.end(), [&](const isa::WindowDim& d) {
        return d.grid_dim == inner && d.grid_divisor == 1 && d.table.empty();
      });
}

}  // namespace

void AddStreamBuffers(const KernelContext& context, Tiling* tiling) {
  tiling->streams = true;
  const auto most = context.chip.Policy("stream_buffers");
  if (!most.has_value()) return;
  const double room = static_cast<double>(VmemBudget(context)) *
                      chips::CompilerPolicy(context.chip, "stream_vmem_share");
  std::vector<isa::Window*> streams;
  int64_t bytes = 0;
  for (isa::Window& w : tiling->windows) {
    const isa::Space space = tiling->args[w.arg].space;
    if (space == isa::Space::kVmem || space == isa::Space::kSmem ||
        w.slots != 2 || !MovesInEveryStep(*tiling, w)) {
      continue;
    }
    streams.push_back(&w);
    bytes += w.slot_bytes;
  }
  if (bytes == 0) return;
  const int64_t steps = StepsOfCore(*tiling, context.model.cores);
  int64_t slots =
      std::min({static_cast<int64_t>(*most),
                static_cast<int64_t>(room / static_cast<double>(bytes)), steps,
                int64_t{memory::DmaPipeline::kMaxSlots}});
  // Few steps are not worth it: eight had two slots, sixteen had six.
  if (steps < 2 * *most) slots = 2;
  for (isa::Window* w : streams) {
    w->slots = static_cast<int>(std::max<int64_t>(2, slots));
  }
  if (VmemBytes(context, *tiling) <= VmemBudget(context)) return;
  for (isa::Window* w : streams) w->slots = 2;
}

}  // namespace ptxla::lowering
