#include "hlo_backend/lowering/convolutions/gradient_plan.h"

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/convolutions/packed_gradient.h"
#include "hlo_backend/lowering/products/product_visits.h"

namespace ptxla::lowering {

Tiling GradientPlanner::Plan(const GradientStep& step, GradientPlan* plan) {
  *plan = GradientPlan();
  plan->step = step;
  const AxisBlock& cut = step.cut;
  const SecondCut& second = step.second;
  const ProductTile& tile = step.tile;
  plan->grid = GridDims::Of(tile);
  plan->block = steps_.BlockOf(step);
  const bool box = step.inner > 1;
  if (second.grid() > 1) plan->grid.bounds.push_back(second.grid());
  if (box) PartPlanes(plan);
  if (plan->grid.megacore_dim < 0) plan->grid.megacore_dim = SharedSteps(*plan);
  for (size_t a = 0; a < form_.axes.size(); ++a) {
    plan->planes.axis.push_back(plan->block.axes[a].grid == 1 ? -1
                                : a == 0                      ? plan->grid.b
                                         : kGradientSecondGrid);
    plan->planes.tap_axis.push_back(plan->block.axes[a].tap_grid == 1 ? -1
                                    : a == 0 ? plan->grid.k
                                             : kGradientSecondGrid);
  }
  plan->planes.dims = plan->grid;
  Tiling tiling;
  tiling.note =
      absl::StrCat("gradient, taps ", cut.taps, ", ", tile.ToString());
  if (cut.grid > 1 || box) {
    absl::StrAppend(&tiling.note, ", planes ", cut.outputs);
  }
  if (box) absl::StrAppend(&tiling.note, "x", plan->block.axes[1].outputs);
  if (second.rows > 1) {
    absl::StrAppend(&tiling.note, ", rows ", 8 * plan->block.row_tiles);
  }
  if (second.taps > 1) {
    absl::StrAppend(&tiling.note, ", inner taps ", plan->block.axes[1].taps);
  }
  if (step.packed) {
    plan->exchanged = GradientPacking::Exchanged(plan->block);
    absl::StrAppend(&tiling.note, ", results in ",
                    steps_.packing().taps.tiles.size(), " tiles");
  }
  tiling.args = args_;
  tiling.grid = plan->grid.bounds;
  tiling.megacore_dim = plan->grid.megacore_dim;
  turns_.AddWindows(step, plan->grid, kFirstOtherSpace, &tiling);
  plan->input =
      AddGradientInputWindow(form_, plan->block, tile, plan->grid, &tiling);
  plan->windows = tiling.windows;
  const int64_t rows = RoundUpTo<int64_t>(tile.block_m, 16);
  const ProductTile stream = steps_.StreamTile(step);
  plan->accumulates = Accumulates(step);
  plan->transposed_offset =
      plan->accumulates ? stream.block_b * rows * stream.block_n * 4 : 0;
  plan->packed_offset = plan->transposed_offset +
                        rows * tile.block_k * (steps_.arrays().bf16 ? 2 : 4);
  int64_t scratch = plan->packed_offset;
  if (step.packed) {
    scratch += RoundUpTo<int64_t>(
        CostOfPacking(steps_.packing().taps, steps_.packing().exchanged,
                      plan->exchanged, context_.model)
            .bytes,
        isa::kVregBytes);
  }
  epilogue_.SetScratch(scratch);
  tiling.scratch_bytes = scratch + epilogue_.ScratchBytes(tile);
  if (plan->SharesSteps()) {
    plan->peer = PeerParts::Add(0, plan->transposed_offset, &tiling);
  }
  epilogue_.AddWindows(tile, plan->grid, kFirstOtherSpace, &tiling);
  tiling.work.flops = tiling.work.mxu_flops = form_.flops;
  for (const isa::KernelArg& arg : tiling.args) {
    if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
  }
  return tiling;
}

// The grid of a box of planes.
void GradientPlanner::PartPlanes(GradientPlan* plan) const {
  const AxisBlock &outer = plan->block.axes[0], &inner = plan->block.axes[1];
  int64_t whole = 1;  // planes of what lies inside of both
  for (size_t a = 2; a < form_.axes.size(); ++a) whole *= form_.axes[a].out;
  plan->grid.planes = {
      {outer.outputs, form_.axes[0].out, plan->grid.b},
      {inner.outputs * whole, form_.axes[1].out * whole, kGradientSecondGrid}};
  plan->grid.bounds.push_back(inner.grid);
  if (plan->grid.megacore_dim < 0) {
    plan->grid.megacore_dim = kGradientSecondGrid;
  }
}

// The grid dimension along which two cores make sums of their own; -1: none.
// An input in VMEM has code of its own for the ends of the first axis. Whole
// numbers have no gradients.
int GradientPlanner::SharedSteps(const GradientPlan& plan) const {
  const ProductProblem& p = form_.product.problem;
  if (context_.model.cores != 2 || p.kept.any || p.integers || p.rhs.resident ||
      plan.step.inner > 1) {
    return -1;
  }
  if (plan.step.tile.grid_k > 1) return plan.grid.k;
  return plan.step.second.grid() > 1 ? kGradientSecondGrid : -1;
}

// Packed sums are always taken apart from VMEM.
bool GradientPlanner::Accumulates(const GradientStep& step) const {
  return step.packed || step.tile.grid_k > 1 || step.second.grid() > 1 ||
         PlanVisits(form_.product.problem, step.tile, steps_.arrays())
                 .k_visits > 1;
}

}  // namespace ptxla::lowering
