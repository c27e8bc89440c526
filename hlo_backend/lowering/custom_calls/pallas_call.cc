#include "hlo_backend/lowering/custom_calls/pallas_call.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "memory_model/dma_pipeline.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

using BlockIndex = std::vector<std::optional<int64_t>>;

// More grid steps than this are not walked one by one.
constexpr int64_t kMaxSteps = 1 << 22;

// Bytes of a block as they lie in HBM, and how many of them in a row.
struct BlockBytes {
  int64_t bytes = 0;
  int64_t run = 0;
};

BlockBytes BytesOfBlock(const mosaic::PallasWindow& window,
                        const hlo::Shape* array) {
  const mosaic::Type& type = *window.type;
  // Tiles of 8 rows of words, whole lanes.
  const int bits = std::max(1, type.element->bits);
  const int64_t rows = 8 * std::max(1, 32 / std::max(8, bits));
  const std::vector<int64_t>& dims =
      window.block.empty() ? type.dims : window.block;
  const size_t rank = dims.size();
  BlockBytes b;
  b.bytes = std::max<int64_t>(1, bits / 8);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t unit = d + 1 == rank ? 128 : d + 2 == rank ? rows : 1;
    b.bytes *= RoundUpTo<int64_t>(std::max<int64_t>(dims[d], 1), unit);
  }
  if (rank == 1) b.bytes = RoundUpTo<int64_t>(dims[0], 128) * bits / 8;
  b.run = b.bytes;
  if (array != nullptr && rank >= 2 && array->rank() == rank &&
      dims[rank - 1] < array->dim(rank - 1)) {
    b.run = std::min(b.run,
                     RoundUpTo<int64_t>(dims[rank - 1], 128) * rows * bits / 8);
  }
  return b;
}

// Whether a window's block moves between two steps.
bool Moves(const BlockIndex& a, const BlockIndex& b) {
  if (a.size() != b.size()) return true;
  for (size_t d = 0; d < a.size(); ++d) {
    if (!a[d] || !b[d] || *a[d] != *b[d]) return true;
  }
  return false;
}

struct CopiedWindow {
  const mosaic::PallasWindow* window = nullptr;
  Picoseconds busy;
  int64_t bytes = 0;
  bool output = false;
};

class GridWalk {
 public:
  // `arrays` as TimeOf has them; `cores` share the memory.
  GridWalk(const KernelContext& context, const mosaic::PallasKernel& kernel,
           absl::Span<const hlo::Shape* const> arrays, size_t results,
           int cores)
      : context_(context),
        kernel_(kernel),
        hbm_(context.chip),
        walker_(kernel, context.model) {
    for (size_t w = 0; w < kernel.windows.size(); ++w) {
      const mosaic::PallasWindow& window = kernel.windows[w];
      const hlo::Shape* array = w < arrays.size() ? arrays[w] : nullptr;
      const bool resident =
          array != nullptr && ArgSpace(*array) != isa::Space::kHbm;
      if (window.IsManual() || resident) continue;
      const BlockBytes block = BytesOfBlock(window, array);
      const bool output = w + results >= kernel.windows.size();
      const Picoseconds busy =
          hbm_.Busy({Bytes(block.bytes), output, Bytes(block.run), 0.0});
      windows_.push_back(
          {&window, Picoseconds(busy.count() * cores), block.bytes, output});
    }
  }

  // The steps of the grid whose index along `dimension` is in [from, to).
  absl::StatusOr<PallasTime> Run(std::vector<int64_t> bounds, int dimension,
                                 int64_t from, int64_t to);
  const std::set<std::string>& unknown() const { return walker_.unknown(); }

 private:
  std::vector<BlockIndex> BlocksAt(const std::vector<int64_t>& index) const {
    std::vector<BlockIndex> blocks;
    blocks.reserve(windows_.size());
    for (const CopiedWindow& w : windows_) {
      blocks.push_back(w.window->BlockAt(kernel_, index));
    }
    return blocks;
  }

  // Bundles of a step besides its body, as every kernel has them.
  int64_t StepOverhead(int64_t steps) const {
    if (steps <= 1) return 0;
    const chips::CoreSpec& core = context_.chip.core();
    return core.kernel_step.count() +
           static_cast<int64_t>(context_.chip.Policy("step_sync").value_or(0)) +
           core.kernel_step_window.count() *
               static_cast<int64_t>(windows_.size());
  }

  const KernelContext& context_;
  const mosaic::PallasKernel& kernel_;
  const memory::HbmModel hbm_;
  StepWalker walker_;
  std::vector<CopiedWindow> windows_;
};

absl::StatusOr<PallasTime> GridWalk::Run(std::vector<int64_t> bounds,
                                         int dimension, int64_t from,
                                         int64_t to) {
  std::vector<int64_t> index(bounds.size(), 0);
  if (dimension >= 0) {
    index[dimension] = from;
    bounds[dimension] = to - from;
  }
  PallasTime time;
  time.steps = 1;
  for (const int64_t bound : bounds) time.steps *= bound;
  const std::vector<int64_t> first = index;
  const Clock& clock = context_.chip.core().clock;
  const int64_t overhead = StepOverhead(time.steps);
  memory::DmaPipeline pipeline(hbm_.latency());
  std::vector<BlockIndex> before, blocks = BlocksAt(index);
  for (int64_t s = 0; s < time.steps; ++s) {
    ASSIGN_OR_RETURN(const StepTime step, walker_.At(index));
    time.bundles += step.bundles;
    time.assumed = time.assumed || step.assumed;
    for (size_t d = bounds.size(); d-- > 0;) {
      if (++index[d] < first[d] + bounds[d]) break;
      index[d] = first[d];
    }
    const bool last = s + 1 == time.steps;
    std::vector<BlockIndex> after = last ? blocks : BlocksAt(index);
    memory::PipelineStep transfers;
    for (size_t w = 0; w < windows_.size(); ++w) {
      const CopiedWindow& window = windows_[w];
      const bool moves = window.output ? last || Moves(blocks[w], after[w])
                                       : s == 0 || Moves(before[w], blocks[w]);
      if (!moves) continue;
      (window.output ? transfers.store : transfers.load) += window.busy;
      time.hbm_bytes += window.bytes;
    }
    // Its own copies run beside what it computes, as their authors intend.
    const Picoseconds copies =
        step.copied_bytes == 0
            ? Picoseconds(0)
            : hbm_.Busy({Bytes(step.copied_bytes), false, Bytes(0), 0.0});
    time.hbm_bytes += step.copied_bytes;
    transfers.compute =
        std::max(clock.ToTime(Cycles(step.bundles + overhead)), copies);
    pipeline.Step(transfers);
    before = std::move(blocks);
    blocks = std::move(after);
  }
  time.cycles = context_.chip.core().kernel_entry.count() +
                clock.CyclesCeil(pipeline.Finish()).count();
  return time;
}

// The call's arrays that have windows, then its results.
std::vector<const hlo::Shape*> WindowArrays(const hlo::Instruction& call,
                                            const mosaic::PallasKernel& kernel,
                                            size_t* results) {
  std::vector<const hlo::Shape*> arrays = KernelLeaves(call);
  *results = 0;
  hlo::ForEachLeaf(call.shape(),
                   [&](const hlo::Shape& s, const hlo::ShapeIndex&) {
                     *results += s.IsArray() ? 1 : 0;
                   });
  // Bounds of the grid and prefetched scalars stand in front.
  if (arrays.size() > kernel.windows.size()) {
    arrays.erase(arrays.begin(), arrays.end() - static_cast<std::ptrdiff_t>(
                                                    kernel.windows.size()));
  }
  return arrays;
}

}  // namespace

absl::StatusOr<PallasTime> TimeOf(const KernelContext& context,
                                  const mosaic::PallasKernel& kernel,
                                  absl::Span<const hlo::Shape* const> arrays,
                                  size_t results) {
  std::vector<int64_t> bounds = kernel.grid;
  bool assumed = false;
  double steps = 1;
  int shared = -1;  // the dimension that cores share
  for (size_t d = 0; d < bounds.size(); ++d) {
    if (bounds[d] == mosaic::kDynamic) {
      bounds[d] = std::max<int64_t>(1, kernel.BoundOf(static_cast<int>(d)));
      assumed = true;
    }
    steps *= static_cast<double>(bounds[d]);
    if (shared < 0 && kernel.parallel[d] && bounds[d] > 1) {
      shared = static_cast<int>(d);
    }
  }
  if (steps > static_cast<double>(kMaxSteps)) {
    return absl::UnimplementedError(
        absl::StrCat("a Mosaic kernel of ", steps, " grid steps"));
  }
  const int cores = shared < 0 ? 1 : context.model.cores;
  GridWalk walk(context, kernel, arrays, results, cores);
  PallasTime slowest;
  int64_t hbm_bytes = 0;
  for (int core = 0; core < cores; ++core) {
    const int64_t from = cores == 1 ? 0 : bounds[shared] * core / cores;
    const int64_t to = cores == 1 ? (shared < 0 ? 0 : bounds[shared])
                                  : bounds[shared] * (core + 1) / cores;
    ASSIGN_OR_RETURN(const PallasTime time, walk.Run(bounds, shared, from, to));
    hbm_bytes += time.hbm_bytes;
    if (time.cycles > slowest.cycles) slowest = time;
  }
  slowest.cores = cores;
  slowest.unknown = walk.unknown();
  slowest.hbm_bytes = hbm_bytes;
  slowest.assumed = slowest.assumed || assumed;
  return slowest;
}

absl::StatusOr<isa::Kernel> EmitPallasCall(const KernelContext& context,
                                           const hlo::Instruction& call) {
  absl::StatusOr<mosaic::PallasKernel> read =
      mosaic::PallasKernelOf(call.backend_config());
  if (!read.ok()) {
    return absl::UnimplementedError(
        absl::StrCat("custom call \"tpu_custom_call\" is not lowered: ",
                     read.status().message()));
  }
  const mosaic::PallasKernel& pallas = *read;
  size_t results = 0;
  const std::vector<const hlo::Shape*> arrays =
      WindowArrays(call, pallas, &results);
  ASSIGN_OR_RETURN(const PallasTime time,
                   TimeOf(context, pallas, arrays, results));
  return EmitWait(
      call, time.cycles, time.cores,
      absl::StrCat("Mosaic kernel ", pallas.name, ", grid ",
                   pallas.grid.empty() ? "1" : absl::StrJoin(pallas.grid, "x"),
                   ", ", time.bundles / std::max<int64_t>(1, time.steps),
                   " bundles a step",
                   time.assumed ? ", conditions on data taken as true" : "",
                   time.unknown.empty()
                       ? ""
                       : absl::StrCat(", one instruction a register for ",
                                      absl::StrJoin(time.unknown, " "))));
}

}  // namespace ptxla::lowering
