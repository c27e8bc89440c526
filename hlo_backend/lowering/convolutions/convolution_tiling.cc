#include "hlo_backend/lowering/convolutions/convolution_tiling.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/cheapest_cuts.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/turned_input.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/kernel_overheads.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/tiling_log.h"
#include "isa/grid.h"
#include "memory_model/dma_pipeline.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

// Beyond the latency of the last product: its epilogue, and what fills the
// stream.
constexpr int64_t kDrain = 64;
// A step whose straight code is longer than the policy wishes is taken where
// nothing shorter fits, up to so many times as long.
constexpr int64_t kLongest = 8;

class Search {
 public:
  Search(const KernelContext& context, const ConvolutionForm& form,
         const TapPacking& packing, const ArrayShape& arrays,
         const ConvolutionLimits& limits,
         const std::function<Tiling(const ConvolutionBlock&)>& windows_of)
      : context_(context),
        form_(form),
        packing_(packing),
        arrays_(arrays),
        limits_(limits),
        windows_of_(windows_of) {}

  absl::StatusOr<ConvolutionBlock> Run() {
    longest_ = limits_.step_bundles * (packing_.packs() ? kPackedSteps : 1);
    do {
      Walk();
      longest_ *= 2;
    } while (!best_.has_value() && longest_ <= kLongest * limits_.step_bundles);
    if (!best_.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("%", form_.convolution->name(),
                       ": no block of the convolution fits into VMEM"));
    }
    return *best_;
  }

 private:
  void Walk() {
    ConvolutionBlock block;
    for (const WindowAxis& axis : form_.axes) {
      block.axes.push_back(*CutAxis(axis, 1, 1));
    }
    block.row_tiles = form_.RowTiles();
    CutOutputs(block, 0);
    // Taps are cut where outputs are few: gradients of weights.
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      for (const int64_t grid : DistinctCuts(form_.axes[a].taps)) {
        if (grid == 1 || form_.axes[a].taps % grid != 0 ||
            form_.axes[a].MeetsOne()) {
          continue;
        }
        const auto cut = CutAxis(form_.axes[a], 1, grid);
        if (!cut.has_value()) continue;
        ConvolutionBlock other = block;
        other.axes[a] = *cut;
        CutRows(other);
      }
    }
  }

  // Of a step: windows move by whole planes of a dilated input.
  static int64_t LeastOutputs(const WindowAxis& axis) {
    return axis.base_dilation / std::gcd(axis.stride, axis.base_dilation);
  }

  // Cuts axis `a`, and the next ones where the least of it is still too much;
  // all of them where taps are packed, as what two steps share costs most.
  void CutOutputs(const ConvolutionBlock& block, size_t a) {
    if (a == form_.axes.size()) {
      CutRows(block);
      return;
    }
    if (form_.axes[a].MeetsOne()) {
      // Another cut would hold the taps of all.
      ConvolutionBlock other = block;
      other.axes[a] = SingleOutputs(form_.axes[a]);
      CutOutputs(other, a + 1);
      return;
    }
    for (const int64_t grid : DistinctCuts(form_.axes[a].out)) {
      const auto cut = CutAxis(form_.axes[a], grid, 1);
      if (!cut.has_value()) continue;
      ConvolutionBlock other = block;
      other.axes[a] = *cut;
      if (cut->outputs <= LeastOutputs(form_.axes[a]) || packing_.packs()) {
        CutOutputs(other, a + 1);
      } else {
        CutRows(other);
      }
    }
  }

  void CutRows(ConvolutionBlock block) {
    for (const int64_t grid : DistinctCuts(form_.RowTiles())) {
      block.row_tiles = CeilOfRatio<int64_t>(form_.RowTiles(), grid);
      block.row_grid = CeilOfRatio<int64_t>(form_.RowTiles(), block.row_tiles);
      CutColumns(block);
    }
  }

  void CutColumns(ConvolutionBlock block) {
    const int64_t unit = form_.product.problem.column_unit;
    const int64_t units = CeilOfRatio<int64_t>(form_.product.problem.n, unit);
    for (const int64_t grid : DistinctCuts(units)) {
      block.columns = CeilOfRatio<int64_t>(units, grid) * unit;
      block.column_grid = CeilOfRatio<int64_t>(units * unit, block.columns);
      for (const bool inner : {true, false}) {
        block.columns_inner = inner;
        Consider(block);
        if (grid == 1) break;
      }
    }
  }

  // Sums of several steps are finished in the last one: its code is not that of
  // an end of an axis.
  bool CanLieInPlace(const ConvolutionBlock& block) const {
    const std::optional<int> edge = EdgeAxis(form_, block);
    return edge.has_value() && (*edge < 0 || block.axes[*edge].tap_grid == 1);
  }

  void Consider(const ConvolutionBlock& block) {
    const ConvolutionCost cost =
        CostOf(form_, packing_, block, arrays_, context_.model);
    if (cost.step_cycles > longest_) return;
    const Tiling tiling = windows_of_(block);
    const bool box = ConvolutionGrid::Of(form_, block).dims.box.size() > 1;
    if ((limits_.one_box && box) ||
        (limits_.input_in_place && !CanLieInPlace(block)) ||
        (form_.turned.has_value() && !CanTurn(form_, block))) {
      return;
    }
    if (VmemBytes(context_, tiling) > VmemBudget(context_)) return;
    const Picoseconds time =
        TimeOf(context_, tiling, cost.step_cycles, Limit());
    if (context_.log != nullptr) {
      ++context_.log->considered;
      AddCost(block.Steps(),
              context_.chip.core().clock.CyclesCeil(time).count(),
              context_.log);
    }
    if (best_.has_value() && time >= best_time_) return;
    best_ = block;
    best_time_ = time;
  }

  // Nothing slower is taken, but a log has the time of each.
  Picoseconds Limit() const {
    return best_.has_value() && context_.log == nullptr
               ? best_time_
               : Picoseconds(INT64_MAX);
  }

  const KernelContext& context_;
  const ConvolutionForm& form_;
  const TapPacking& packing_;
  const ArrayShape& arrays_;
  const ConvolutionLimits& limits_;
  const std::function<Tiling(const ConvolutionBlock&)>& windows_of_;
  int64_t longest_ = 0;
  std::optional<ConvolutionBlock> best_;
  Picoseconds best_time_;
};

// What a transfer of the window moves.
struct AverageBox {
  int64_t bytes = 0, chunk_bytes = 0;
};

// Over all steps: the first and the last along a grid dimension may reach
// beyond borders, where nothing is fetched; those between are alike.
AverageBox AverageOf(const isa::Window& window,
                     const std::vector<int64_t>& grid) {
  std::vector<int64_t> index = grid;
  for (int64_t& step : index) step /= 2;
  const isa::Box amid = isa::BoxAt(window, index);
  auto bytes = static_cast<double>(amid.bytes);
  for (size_t g = 0; g < grid.size() && amid.bytes > 0; ++g) {
    if (grid[g] == 1) continue;
    const int64_t middle = index[g];
    index[g] = 0;
    int64_t all = isa::BoxAt(window, index).bytes;
    index[g] = grid[g] - 1;
    all += isa::BoxAt(window, index).bytes;
    index[g] = middle;
    all += (grid[g] - 2) * amid.bytes;
    bytes *=
        static_cast<double>(all) / static_cast<double>(grid[g] * amid.bytes);
  }
  return {static_cast<int64_t>(bytes), amid.chunk_bytes};
}

}  // namespace

bool WalksInVmem(const hlo::Instruction& kernel, const ConvolutionForm& form) {
  for (const hlo::Shape* leaf : KernelLeaves(kernel)) {
    if (ArgSpace(*leaf) == isa::Space::kVmem &&
        leaf->dims() == form.convolution->shape().dims()) {
      return true;
    }
  }
  return false;
}

Picoseconds TimeOf(const KernelContext& context, const Tiling& tiling,
                   int64_t body, Picoseconds limit) {
  isa::Kernel kernel;
  kernel.args = tiling.args;
  kernel.grid = tiling.grid;
  kernel.megacore_dim = tiling.megacore_dim;
  kernel.windows = tiling.windows;
  const int64_t steps = StepsOfCore(tiling, context.model.cores);
  const int64_t cores =
      tiling.megacore_dim < 0
          ? 1
          : std::min<int64_t>(context.model.cores,
                              tiling.grid[tiling.megacore_dim]);
  const memory::HbmModel hbm(context.chip);
  Picoseconds load, store;
  int64_t copied = 0;
  for (int w = 0; w < static_cast<int>(kernel.windows.size()); ++w) {
    const isa::Window& window = kernel.windows[w];
    if (!IsCopied(tiling, window)) continue;
    ++copied;
    const AverageBox box = AverageOf(window, kernel.grid);
    const bool write = window.direction != isa::Direction::kIn;
    const Picoseconds busy =
        hbm.Busy({Bytes(box.bytes), write, Bytes(box.chunk_bytes), 0.0});
    const int64_t transfers =
        cores * isa::CountTransfers(kernel, w, 0, context.model.cores);
    (write ? store : load) +=
        Picoseconds(busy.count() * transfers / std::max<int64_t>(steps, 1));
  }
  const chips::CoreSpec& core = context.chip.core();
  const int64_t overhead =
      steps == 1
          ? 0
          : core.kernel_step.count() + core.kernel_step_window.count() * copied;
  const memory::PipelineStep one{
      load, core.clock.ToTime(Cycles(body + overhead)), store};
  const Picoseconds least =
      memory::DmaPipeline::LeastTime(one, steps, hbm.latency());
  if (least >= limit) return least;
  memory::DmaPipeline pipeline(hbm.latency());
  pipeline.Repeat({&one, 1}, steps);
  return pipeline.Finish();
}

ConvolutionCost CostOf(const ConvolutionForm& form, const TapPacking& packing,
                       const ConvolutionBlock& block, const ArrayShape& arrays,
                       const isa::MachineModel& machine) {
  const ProductProblem& p = form.product.problem;
  const bool packed = IsPacked(packing, block);
  const int64_t k_tiles = packed
                              ? block.Taps() * packing.whole_tiles +
                                    static_cast<int64_t>(packing.tiles.size())
                              : block.Taps() * CeilOfRatio<int64_t>(p.k, 128);
  const PackingCost packs = CostOfPacking(packing, form, block, machine);
  const TurnCost turn =
      form.turned.has_value() ? CostOfTurn(form, block, machine) : TurnCost();
  const double share =
      packed ? 1.0
             : static_cast<double>(block.Meetings(form, arrays.unit / 8)) /
                   static_cast<double>(block.Slices() * block.Taps());
  ConvolutionCost best;
  best.step_cycles = std::numeric_limits<int64_t>::max();
  for (int split_n = 1; split_n <= arrays.mxus; ++split_n) {
    ProductTile tile;
    tile.block_m = 8 * block.Slices();
    tile.block_n = block.columns;
    tile.block_k = 128 * k_tiles;
    tile.split_n = split_n;
    tile.split_m = arrays.mxus / split_n;
    const VisitPlan plan = PlanVisits(p, tile, arrays);
    const auto visits = static_cast<double>(plan.macros * plan.k_visits);
    const double groups = static_cast<double>(plan.groups) * share;
    const double matmuls =
        visits * std::max(groups * static_cast<double>(plan.group_cycles),
                          static_cast<double>(plan.push_cycles));
    // Sums that go through VMEM, and the epilogue.
    const double results = visits * groups * static_cast<double>(plan.results) *
                           tile.split_n * tile.split_m;
    const double stores = results / machine.Slots(isa::Slot::kStore);
    const double vectors =
        (results + results / static_cast<double>(plan.k_visits) *
                       static_cast<double>(1 + p.epilogue_ops)) /
        machine.Slots(isa::Slot::kVector);
    const auto cycles = static_cast<int64_t>(
        std::max({matmuls, stores, vectors}) +
        static_cast<double>(plan.push_cycles + arrays.latency + kDrain +
                            packs.cycles + turn.cycles));
    if (cycles < best.step_cycles) {
      best = {cycles, packs.bytes, turn.bytes, tile};
    }
  }
  return best;
}

absl::StatusOr<ConvolutionBlock> ChooseConvolutionBlock(
    const KernelContext& context, const ConvolutionForm& form,
    const TapPacking& packing, const ArrayShape& arrays,
    const ConvolutionLimits& limits,
    const std::function<Tiling(const ConvolutionBlock&)>& windows_of) {
  return Search(context, form, packing, arrays, limits, windows_of).Run();
}

}  // namespace ptxla::lowering
