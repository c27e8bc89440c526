// The time of a Pallas kernel: its grid, step by step.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/custom_calls/block_bytes.h"
#include "hlo_backend/lowering/custom_calls/block_operations.h"
#include "hlo_backend/lowering/custom_calls/pallas_call.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/mosaic/prefetched_arrays.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

using BlockIndex = std::vector<std::optional<int64_t>>;

// More grid steps than this are not walked one by one.
constexpr int64_t kMaxSteps = 1 << 22;

// Whether a window's block moves between two steps.
bool Moves(const BlockIndex& a, const BlockIndex& b) {
  if (a.size() != b.size()) return true;
  for (size_t d = 0; d < a.size(); ++d) {
    if (!a[d] || !b[d] || *a[d] != *b[d]) return true;
  }
  return false;
}

bool HasProduct(const mosaic::Block& block) {
  for (const mosaic::Operation& op : block.operations) {
    if (IsProduct(op.name)) return true;
    for (const mosaic::Region& region : op.regions) {
      for (const mosaic::Block& inner : region.blocks) {
        if (HasProduct(inner)) return true;
      }
    }
  }
  return false;
}

// What moves between HBM and the windows' blocks.
struct Moved {
  Picoseconds busy;
  int64_t bytes = 0;
};

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
           int cores, mosaic::ScalarMemory memory)
      : context_(context),
        kernel_(kernel),
        hbm_(context.chip),
        memory_(std::move(memory)),
        copies_(hbm_, context.chip.ici(), context.chip.core().clock, cores),
        walker_(kernel, context.model, &memory_, &copies_) {
    walker_.SetRules(BlockRulesOf(context.chip));
    for (size_t w = 0; w < kernel.windows.size(); ++w) {
      const mosaic::PallasWindow& window = kernel.windows[w];
      const hlo::Shape* array = w < arrays.size() ? arrays[w] : nullptr;
      const bool resident =
          array != nullptr && ArgSpace(*array) != isa::Space::kHbm;
      if (window.IsManual() || resident) continue;
      const mosaic::Type& type = *window.type;
      const BlockBytes block = BytesOfBlock(
          type.element->bits, window.block.empty() ? type.dims : window.block,
          array == nullptr ? absl::Span<const int64_t>() : array->dims());
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
  std::vector<BlockIndex> BlocksAt(const std::vector<int64_t>& index) {
    std::vector<BlockIndex> blocks;
    blocks.reserve(windows_.size());
    for (const CopiedWindow& w : windows_) {
      blocks.push_back(w.window->BlockAt(kernel_, index, &memory_));
    }
    return blocks;
  }

  // Of inputs or results, between two steps; null: there is none before the
  // first and behind the last.
  Moved Move(bool output, const std::vector<BlockIndex>* a,
             const std::vector<BlockIndex>* b) const {
    Moved moved;
    for (size_t w = 0; w < windows_.size(); ++w) {
      const CopiedWindow& window = windows_[w];
      if (window.output != output) continue;
      if (a != nullptr && b != nullptr && !Moves((*a)[w], (*b)[w])) continue;
      moved.busy += window.busy;
      moved.bytes += window.bytes;
    }
    return moved;
  }
  // Asked for now. When it has come.
  Picoseconds Serve(const Moved& moved) {
    if (moved.busy.count() == 0) return Picoseconds();
    return copies_.Serve(
        moved.busy, context_.chip.core().clock.ToTime(Cycles(walker_.now())));
  }

  // Bundles of a step besides its body, as every kernel has them.
  int64_t StepOverhead(int64_t steps) const {
    if (steps <= 1) return 0;
    const chips::CoreSpec& core = context_.chip.core();
    return core.kernel_step.count() + core.kernel_step_window.count() *
                                          static_cast<int64_t>(windows_.size());
  }
  // What a step of products waits for its copies, as in kernels of ours.
  int64_t StepSync(int64_t steps) const {
    if (steps <= 1 || !HasProduct(kernel_.body())) return 0;
    return static_cast<int64_t>(context_.chip.Policy("step_sync").value_or(0));
  }

  const KernelContext& context_;
  const mosaic::PallasKernel& kernel_;
  const memory::HbmModel hbm_;
  mosaic::ScalarMemory memory_;
  OwnCopies copies_;
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
  const int64_t sync = StepSync(time.steps);
  // Blocks have two buffers: those of the next step are asked for when a step
  // begins, and what it fills was stored two results ago.
  std::vector<BlockIndex> blocks = BlocksAt(index);
  Moved move = Move(/*output=*/false, nullptr, &blocks);
  Picoseconds loaded = Serve(move), last_stored, stored;
  for (int64_t s = 0; s < time.steps; ++s) {
    const std::vector<int64_t> here = index;
    for (size_t d = bounds.size(); d-- > 0;) {
      if (++index[d] < first[d] + bounds[d]) break;
      index[d] = first[d];
    }
    const bool last = s + 1 == time.steps;
    std::vector<BlockIndex> after;
    if (!last) after = BlocksAt(index);
    const Moved next = last ? Moved() : Move(/*output=*/false, &blocks, &after);
    const Picoseconds next_loaded = Serve(next);
    const Moved result =
        Move(/*output=*/true, &blocks, last ? nullptr : &after);
    const Picoseconds ready =
        result.busy.count() > 0 ? std::max(loaded, stored) : loaded;
    walker_.Pass(
        std::max<int64_t>(0, clock.CyclesCeil(ready).count() - walker_.now()));
    ASSIGN_OR_RETURN(const StepTime step, walker_.At(here));
    time.bundles += step.bundles;
    time.assumed = time.assumed || step.assumed;
    const bool copies = move.busy.count() > 0 || result.busy.count() > 0;
    walker_.Pass(overhead + (copies ? sync : 0));
    if (result.busy.count() > 0) {
      stored = std::exchange(last_stored, Serve(result));
    }
    time.hbm_bytes += move.bytes + result.bytes + step.copied_bytes;
    move = next;
    loaded = next_loaded;
    blocks = std::move(after);
  }
  time.cycles = context_.chip.core().kernel_entry.count() +
                std::max(walker_.now(), clock.CyclesCeil(last_stored).count());
  return time;
}

}  // namespace

absl::StatusOr<PallasTime> TimeOf(const KernelContext& context,
                                  const mosaic::PallasKernel& kernel,
                                  absl::Span<const hlo::Shape* const> arrays,
                                  size_t results,
                                  std::vector<std::vector<int64_t>> constants) {
  std::vector<int64_t> bounds = kernel.grid;
  std::vector<std::string> taken;
  double steps = 1;
  int shared = -1;  // the dimension that cores share
  for (size_t d = 0; d < bounds.size(); ++d) {
    if (bounds[d] == mosaic::kDynamic) {
      bounds[d] = std::max<int64_t>(1, kernel.BoundOf(static_cast<int>(d)));
      taken.push_back(absl::StrCat("a grid bound of ", bounds[d]));
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
  mosaic::ScalarMemory memory;
  mosaic::CallFacts facts{std::move(constants), {}, results};
  for (const hlo::Shape* array : arrays) {
    facts.arrays.push_back(
        array == nullptr
            ? std::vector<int64_t>()
            : std::vector<int64_t>(array->dims().begin(), array->dims().end()));
  }
  const std::vector<std::string> held =
      mosaic::FillPrefetched(kernel, facts, &memory);
  taken.insert(taken.end(), held.begin(), held.end());
  PallasTime slowest;
  int64_t hbm_bytes = 0;
  for (int core = 0; core < cores; ++core) {
    // Each core has its own memory, and its own copies.
    GridWalk walk(context, kernel, arrays, results, cores, memory);
    const int64_t from = cores == 1 ? 0 : bounds[shared] * core / cores;
    const int64_t to = cores == 1 ? (shared < 0 ? 0 : bounds[shared])
                                  : bounds[shared] * (core + 1) / cores;
    ASSIGN_OR_RETURN(const PallasTime time, walk.Run(bounds, shared, from, to));
    hbm_bytes += time.hbm_bytes;
    if (time.cycles > slowest.cycles) {
      slowest = time;
      slowest.unknown = walk.unknown();
    }
  }
  slowest.cores = cores;
  slowest.taken = taken;
  slowest.hbm_bytes = hbm_bytes;
  return slowest;
}

}  // namespace ptxla::lowering
