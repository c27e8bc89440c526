#include "hlo_backend/lowering/kernel_plan.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/kernel_overheads.h"
#include "hlo_backend/lowering/tiling_log.h"
#include "isa/grid.h"
#include "memory_model/dma_pipeline.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

using codegen::BlockMode;
using codegen::Code;
using codegen::CodeBuilder;

// Cores that take part.
int64_t BusyCores(const Tiling& tiling, int cores) {
  return tiling.megacore_dim < 0
             ? 1
             : std::min<int64_t>(cores, tiling.grid[tiling.megacore_dim]);
}

// Along each dimension of the grid, of the core that has most.
codegen::IndexCounts IndicesOfCore(const Tiling& tiling, int cores) {
  codegen::IndexCounts indices;
  indices.fill(1);
  for (int d = 0; d < static_cast<int>(tiling.grid.size()); ++d) {
    const bool shared = d == tiling.megacore_dim;
    indices[d] = CeilOfRatio<int64_t>(tiling.grid[d], shared ? cores : 1);
    if (shared) indices[isa::kCoreShare] = indices[d];
  }
  return indices;
}

// The kernel with everything but its code.
isa::Kernel Skeleton(const Tiling& tiling, int cores) {
  isa::Kernel k;
  k.args = tiling.args;
  k.grid = tiling.grid;
  k.megacore_dim = tiling.megacore_dim;
  k.windows = tiling.windows;
  // One step has nothing to overlap with.
  if (StepsOfCore(tiling, cores) == 1) {
    for (isa::Window& w : k.windows) w.slots = 1;
  }
  k.descriptors = tiling.descriptors;
  k.num_semaphores = tiling.num_semaphores;
  k.scratch_bytes = tiling.scratch_bytes;
  k.work = tiling.work;
  k.note = tiling.note;
  isa::LayoutVmem(&k);
  return k;
}

void PadTo(CodeBuilder* b, int64_t bundles, int64_t used) {
  if (bundles <= used) return;
  b->NewBlock(kControlLabel, BlockMode::kInOrder);
  b->Nop(static_cast<int>(bundles - used));
}

int32_t SpillOffset(const Tiling& tiling) {
  return static_cast<int32_t>(
      RoundUpTo<int64_t>(tiling.scratch_bytes, isa::kVregBytes));
}

// The kernel's scratch grows by what its code spilled.
absl::Status AddSpillArea(const KernelContext& context, const Tiling& tiling,
                          const codegen::SpillUse& use, isa::Kernel* kernel) {
  if (use.slots > 0) {
    kernel->scratch_bytes =
        SpillOffset(tiling) + use.slots * int64_t{isa::kVregBytes};
    isa::LayoutVmem(kernel);
    absl::StrAppend(&kernel->note, ", ", use.spills, " spills, ", use.fills,
                    " fills");
  }
  if (kernel->vmem_bytes > VmemBudget(context)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("needs ", kernel->vmem_bytes, " bytes of VMEM of ",
                     VmemBudget(context)));
  }
  return absl::OkStatus();
}

void Log(const KernelContext& context, const Tiling& tiling,
         const absl::StatusOr<TilingScore>& score) {
  if (context.log == nullptr) return;
  TilingLog& log = *context.log;
  ++log.considered;
  TilingCandidate candidate;
  candidate.what = tiling.note;
  if (score.ok()) {
    candidate.cost_cycles =
        context.chip.core().clock.CyclesCeil(score->time).count();
    candidate.step_cycles = score->step.count();
    candidate.vmem_bytes = score->vmem_bytes;
    AddCost(StepsOfCore(tiling, context.model.cores) *
                BusyCores(tiling, context.model.cores),
            candidate.cost_cycles, &log);
  } else {
    ++log.too_large;
    candidate.refused = std::string(score.status().message());
  }
  log.candidates.push_back(std::move(candidate));
}

// Stages have no grid to walk.
absl::Status CheckSteps(const KernelContext& context, const Tiling& tiling) {
  if (!context.stage || StepsOfCore(tiling, context.model.cores) == 1) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("a stage of more than one step: ", tiling.note));
}

struct Parts {
  Code entry, step, exit;
};

absl::StatusOr<Parts> WriteParts(const KernelContext& context,
                                 const Tiling& tiling) {
  Parts parts;
  RETURN_IF_ERROR(CheckSteps(context, tiling));
  const int num_windows =
      context.stage ? 0 : static_cast<int>(tiling.windows.size());
  const auto overflow = [](const CodeBuilder& b) {
    return b.overflow()
               ? absl::ResourceExhaustedError("too few registers for globals")
               : absl::OkStatus();
  };
  {
    CodeBuilder b(context.model);
    if (tiling.spills) b.AllowSpills(SpillOffset(tiling));
    PadTo(&b, EntryOverhead(context, tiling), CopiedWindows(tiling));
    b.NewBlock("start inputs", BlockMode::kInOrder);
    for (int w = 0; w < num_windows; ++w) {
      if (IsCopied(tiling, tiling.windows[w]) &&
          tiling.windows[w].direction == isa::Direction::kIn) {
        b.DmaStart(w);
      }
    }
    if (tiling.entry) {
      RETURN_IF_ERROR(tiling.entry(b));
    }
    RETURN_IF_ERROR(overflow(b));
    parts.entry = b.Finish();
  }
  {
    CodeBuilder b(context.model);
    if (tiling.spills) b.AllowSpills(SpillOffset(tiling));
    const bool loop = StepsOfCore(tiling, context.model.cores) > 1;
    int64_t used = 0;
    b.NewBlock("start and wait", BlockMode::kInOrder);
    for (int w = 0; w < num_windows && loop; ++w) {
      if (IsCopied(tiling, tiling.windows[w]) &&
          tiling.windows[w].direction == isa::Direction::kIn) {
        b.DmaStart(w);
        ++used;
      }
    }
    for (int w = 0; w < num_windows; ++w) {
      if (!IsCopied(tiling, tiling.windows[w])) continue;
      b.DmaWait(w);
      ++used;
    }
    b.BeginScope();
    RETURN_IF_ERROR(tiling.body(b));
    RETURN_IF_ERROR(overflow(b));
    b.EndScope();
    b.NewBlock("start outputs", BlockMode::kInOrder);
    for (int w = 0; w < num_windows; ++w) {
      if (IsCopied(tiling, tiling.windows[w]) &&
          tiling.windows[w].direction != isa::Direction::kIn) {
        b.DmaStart(w);
        ++used;
      }
    }
    PadTo(&b, StepOverhead(context, tiling), used);
    if (const int64_t sync = StepSync(context, tiling); sync > 0) {
      b.NewBlock("step sync", BlockMode::kInOrder);
      b.Nop(static_cast<int>(sync));
    }
    parts.step = b.Finish();
  }
  {
    CodeBuilder b(context.model);
    b.NewBlock("wait for outputs", BlockMode::kInOrder);
    for (int w = 0; w < num_windows; ++w) {
      if (IsCopied(tiling, tiling.windows[w]) &&
          tiling.windows[w].direction != isa::Direction::kIn) {
        b.DmaWait(w);
      }
    }
    parts.exit = b.Finish();
  }
  return parts;
}

}  // namespace

int64_t StepsOfCore(const Tiling& tiling, int cores) {
  const codegen::IndexCounts indices = IndicesOfCore(tiling, cores);
  int64_t steps = 1;
  for (size_t d = 0; d < tiling.grid.size(); ++d) steps *= indices[d];
  return steps;
}

UnrollPolicy UnrollPolicy::Of(const chips::ChipSpec& chip) {
  UnrollPolicy policy;
  if (const auto value = chip.Policy("unroll_registers")) {
    policy.loaded_registers = static_cast<int>(*value);
  }
  policy.loaded_registers_eup = static_cast<int>(
      chip.Policy("unroll_registers_eup").value_or(policy.loaded_registers));
  return policy;
}

int UnrollPolicy::Copies(double loads) const {
  return std::max(1, static_cast<int>(loaded_registers / loads));
}

int64_t VmemBytes(const KernelContext& context, const Tiling& tiling) {
  return Skeleton(tiling, context.model.cores).vmem_bytes;
}

int64_t VmemBudget(const KernelContext& context) {
  return context.chip.vmem().scoped_limit.count();
}

absl::StatusOr<TilingScore> Score(const KernelContext& context,
                                  const Tiling& tiling) {
  isa::Kernel kernel = Skeleton(tiling, context.model.cores);
  RETURN_IF_ERROR(AddSpillArea(context, tiling, {}, &kernel));
  ASSIGN_OR_RETURN(const Parts parts, WriteParts(context, tiling));
  TilingScore score;
  codegen::SpillUse use;
  const codegen::IndexCounts indices =
      IndicesOfCore(tiling, context.model.cores);
  ASSIGN_OR_RETURN(int64_t entry, codegen::CyclesOf(parts.entry, context.cache,
                                                    indices, &use));
  ASSIGN_OR_RETURN(int64_t step,
                   codegen::CyclesOf(parts.step, context.cache, indices, &use));
  RETURN_IF_ERROR(AddSpillArea(context, tiling, use, &kernel));
  score.vmem_bytes = kernel.vmem_bytes;
  score.step = Cycles(step);
  const Clock& clock = context.chip.core().clock;
  const memory::HbmModel hbm(context.chip);
  // The average step: each window's transfers spread over the steps. Cores that
  // run at once share the memory.
  const int64_t steps = StepsOfCore(tiling, context.model.cores);
  const int64_t cores = BusyCores(tiling, context.model.cores);
  Picoseconds load, store;
  const std::vector<int64_t> origin(kernel.grid.size(), 0);
  for (int w = 0; w < static_cast<int>(kernel.windows.size()); ++w) {
    const isa::Window& window = kernel.windows[w];
    if (!IsCopied(tiling, window)) continue;
    const isa::Box box = isa::BoxAt(window, origin);
    const bool write = window.direction != isa::Direction::kIn;
    const Picoseconds busy =
        hbm.Busy({Bytes(box.bytes), write, Bytes(box.chunk_bytes), 0.0});
    const int64_t transfers =
        cores * isa::CountTransfers(kernel, w, 0, context.model.cores);
    (write ? store : load) +=
        Picoseconds(busy.count() * transfers / std::max<int64_t>(steps, 1));
  }
  // Streams have equal slots; what moves seldom is held twice.
  int slots = 2, ahead = 1;
  for (const isa::Window& w : kernel.windows) {
    if (!IsCopied(tiling, w)) continue;
    slots = std::max(slots, w.slots);
    if (w.direction == isa::Direction::kIn)
      ahead = std::max(ahead, w.slots - 1);
  }
  memory::DmaPipeline pipeline(hbm.latency(), slots, ahead);
  const memory::PipelineStep one{load, clock.ToTime(score.step), store};
  pipeline.Repeat({&one, 1}, steps);
  score.time = clock.ToTime(Cycles(entry)) + pipeline.Finish();
  return score;
}

absl::StatusOr<size_t> ChooseTiling(const KernelContext& context,
                                    absl::Span<const Tiling> tilings,
                                    std::vector<TilingScore>* scores) {
  // A lone candidate is scored only where somebody asks for the score.
  if (tilings.size() == 1 && scores == nullptr &&
      VmemBytes(context, tilings[0]) <= VmemBudget(context)) {
    if (context.log != nullptr) {
      Log(context, tilings[0], Score(context, tilings[0]));
    }
    return size_t{0};
  }
  std::optional<size_t> best;
  TilingScore best_score;
  absl::Status failure = absl::InternalError("no tiling to choose from");
  const size_t known = scores == nullptr ? 0 : scores->size();
  for (size_t i = 0; i < tilings.size(); ++i) {
    const absl::StatusOr<TilingScore> score =
        i < known ? absl::StatusOr<TilingScore>((*scores)[i])
                  : Score(context, tilings[i]);
    Log(context, tilings[i], score);
    if (!score.ok()) {
      if (score.status().code() != absl::StatusCode::kResourceExhausted) {
        return score.status();
      }
      failure = score.status();
      if (scores) scores->push_back({});
      continue;
    }
    if (scores != nullptr && i >= known) scores->push_back(*score);
    if (!best || score->time < best_score.time) {
      best = i;
      best_score = *score;
    }
  }
  if (!best) return failure;
  return *best;
}

absl::StatusOr<isa::Kernel> FrameKernel(const KernelContext& context,
                                        const Tiling& tiling) {
  isa::Kernel kernel = Skeleton(tiling, context.model.cores);
  ASSIGN_OR_RETURN(const Parts parts, WriteParts(context, tiling));
  codegen::SpillUse use;
  ASSIGN_OR_RETURN(kernel.entry,
                   codegen::EmitCode(parts.entry, context.cache, &use));
  ASSIGN_OR_RETURN(kernel.step,
                   codegen::EmitCode(parts.step, context.cache, &use));
  ASSIGN_OR_RETURN(kernel.exit, codegen::EmitCode(parts.exit, context.cache));
  RETURN_IF_ERROR(AddSpillArea(context, tiling, use, &kernel));
  if (context.log != nullptr) context.log->chosen = tiling.note;
  return kernel;
}

}  // namespace ptxla::lowering
