#include "hlo_backend/lowering/kernel_overheads.h"

#include <algorithm>

namespace ptxla::lowering {
namespace {

// Some step after the first has a DMA to start: a window is elsewhere then.
bool StepsCopy(const Tiling& tiling) {
  const auto moves = [&](const isa::WindowDim& d) {
    return d.grid_dim >= 0 && tiling.grid[d.grid_dim] > d.grid_divisor;
  };
  return std::any_of(tiling.windows.begin(), tiling.windows.end(),
                     [&](const isa::Window& w) {
                       return IsCopied(tiling, w) &&
                              std::any_of(w.dims.begin(), w.dims.end(), moves);
                     });
}

}  // namespace

bool IsCopied(const Tiling& tiling, const isa::Window& w) {
  const isa::Space space = tiling.args[w.arg].space;
  return space != isa::Space::kSmem &&
         (space != isa::Space::kVmem || w.space == isa::Space::kSmem);
}

int CopiedWindows(const Tiling& tiling) {
  int n = 0;
  for (const isa::Window& w : tiling.windows) n += IsCopied(tiling, w);
  return n;
}

int64_t StepSync(const KernelContext& context, const Tiling& tiling) {
  if (StepsOfCore(tiling, context.model.cores) <= 1 || tiling.streams ||
      tiling.steps_run_on || !StepsCopy(tiling) || tiling.work.mxu_flops == 0) {
    return 0;
  }
  return static_cast<int64_t>(context.chip.Policy("step_sync").value_or(0));
}

int64_t StepOverhead(const KernelContext& context, const Tiling& tiling) {
  if (StepsOfCore(tiling, context.model.cores) <= 1) return 0;
  const chips::CoreSpec& core = context.chip.core();
  // Steps that move nothing only count.
  if (CopiedWindows(tiling) == 0) {
    return core.kernel_step_window.count() *
           static_cast<int64_t>(tiling.windows.size());
  }
  if (tiling.streams) {
    int slots = 2;
    for (const isa::Window& w : tiling.windows)
      slots = std::max(slots, w.slots);
    return StreamStepOverhead(context.chip, CopiedWindows(tiling), slots,
                              tiling.flat);
  }
  return core.kernel_step.count() +
         core.kernel_step_window.count() * CopiedWindows(tiling);
}

int64_t OneStepEntry(const chips::ChipSpec& chip, int copied_windows) {
  if (copied_windows == 0) return 0;
  const auto window = chip.Policy("entry_window");
  return window.has_value() ? static_cast<int64_t>(*window) * copied_windows
                            : chip.core().kernel_entry.count();
}

int64_t EntryOverhead(const KernelContext& context, const Tiling& tiling) {
  if (context.stage) return 0;
  if (StepsOfCore(tiling, context.model.cores) <= 1) {
    return OneStepEntry(context.chip, CopiedWindows(tiling));
  }
  return context.chip.core().kernel_entry.count();
}

int64_t StreamStepOverhead(const chips::ChipSpec& chip, int copied_windows,
                           int slots, bool flat) {
  const chips::CoreSpec& core = chip.core();
  const auto policy = [&](const char* key, int64_t otherwise) {
    const auto value = chip.Policy(key);
    return value.has_value() ? static_cast<int64_t>(*value) : otherwise;
  };
  int64_t step = policy("stream_step", core.kernel_step.count());
  int64_t window = core.kernel_step_window.count();
  if (flat) {
    step = policy("flat_step", step);
    window = policy("flat_step_window", window);
  }
  return step + window * copied_windows +
         (slots > 2 ? policy("stream_step_deep", 0) : 0);
}

}  // namespace ptxla::lowering
