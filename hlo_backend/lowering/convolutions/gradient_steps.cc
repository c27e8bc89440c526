#include "hlo_backend/lowering/convolutions/gradient_steps.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/units.h"
#include "hlo_backend/lowering/cheapest_cuts.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/products/lhs_transpose.h"

namespace ptxla::lowering {
namespace {

// Beyond the latency of the last product.
constexpr int64_t kDrain = 64;

}  // namespace

GradientSteps::GradientSteps(const KernelContext& context,
                             const ConvolutionForm& form)
    : context_(context),
      form_(form),
      arrays_(ArrayShapeOf(context.model, false)),
      packing_(GradientPacking::Of(form, arrays_)) {}

std::vector<SecondCut> GradientSteps::SecondCuts() const {
  const int64_t rows = form_.RowTiles();
  const int64_t taps = form_.axes.size() > 1 ? form_.axes[1].taps : 1;
  std::vector<SecondCut> cuts;
  for (int64_t parts = 1; parts <= std::max(rows, taps); ++parts) {
    if (taps % parts == 0 &&
        (parts == 1 || CutAxis(form_.axes[1], 1, parts).has_value())) {
      cuts.push_back({1, parts});
    }
    if (parts > 1 && rows % parts == 0) cuts.push_back({parts, 1});
  }
  return cuts;
}

std::vector<FirstCut> GradientSteps::TapCuts() const {
  const int64_t taps = form_.axes.empty() ? 1 : form_.axes[0].taps;
  std::vector<FirstCut> cuts;
  for (int64_t parts = 1; parts <= taps; ++parts) {
    if (taps % parts == 0) cuts.push_back({1, parts});
  }
  return cuts;
}

std::vector<FirstCut> GradientSteps::OutputCuts() const {
  std::vector<FirstCut> cuts;
  // Mirrored results follow one another the other way than their windows.
  if (form_.axes.empty() || form_.mirrored) return cuts;
  for (int64_t parts = 2; parts <= form_.axes[0].out; ++parts) {
    if (form_.axes[0].out % parts == 0) cuts.push_back({parts, 1});
  }
  return cuts;
}

std::vector<FirstCut> GradientSteps::BoxCuts() const {
  std::vector<FirstCut> cuts;
  const ProductProblem& p = form_.product.problem;
  if (form_.axes.size() < 2 || form_.mirrored || p.kept.any ||
      !p.shared_members.empty() || p.whole_rows || p.whole_columns) {
    return cuts;
  }
  for (const int64_t outer : DistinctCuts(form_.axes[0].out)) {
    for (const int64_t inner : DistinctCuts(form_.axes[1].out)) {
      if (inner > 1) cuts.push_back({outer, 1, inner});
    }
  }
  return cuts;
}

std::vector<GradientStep> GradientSteps::Of(const SecondCut& second,
                                            const FirstCut& first,
                                            bool packed) const {
  std::vector<GradientStep> steps;
  const std::optional<AxisBlock> cut =
      form_.axes.empty() ? AxisBlock()
                         : CutAxis(form_.axes[0], first.outputs, first.taps);
  if (!cut.has_value()) return steps;
  GradientStep step{*cut, second, first.inner, {}, packed};
  AxisBlock inner;
  if (first.inner > 1) {
    const auto second_axis = CutAxis(form_.axes[1], first.inner, 1);
    if (!second_axis.has_value()) return steps;
    inner = *second_axis;
  }
  if (packed &&
      !IsPacked(packing_.taps, GradientPacking::Exchanged(BlockOf(step)))) {
    return steps;
  }
  const ProductProblem& p = form_.product.problem;
  const int64_t m_tiles = CeilOfRatio<int64_t>(p.m, 128);
  const int64_t n_tiles = CeilOfRatio<int64_t>(p.n, p.column_unit);
  for (int64_t m = 1; m <= m_tiles; ++m) {
    if (m_tiles % m != 0) continue;
    for (int64_t n = 1; n <= n_tiles; ++n) {
      if (n_tiles % n != 0) continue;
      ProductTile& t = step.tile;
      t = ProductTile();
      t.grid_b = first.outputs;
      t.block_b = p.batch / first.outputs;
      if (first.inner > 1) {
        t.grid_b = cut->grid;
        t.block_b = p.batch / (form_.axes[0].out * form_.axes[1].out) *
                    cut->outputs * inner.outputs;
      }
      t.grid_m = m;
      t.grid_n = n;
      t.grid_k = cut->tap_grid;
      t.block_m = m == 1 ? RoundUpTo<int64_t>(p.m, 16) : m_tiles / m * 128;
      t.block_n = n_tiles / n * p.column_unit;
      t.block_k = RoundUpTo<int64_t>(KOf(step), 128);
      ShareArrays(&step);
      steps.push_back(step);
    }
  }
  return steps;
}

void GradientSteps::ShareArrays(GradientStep* step) const {
  ProductTile& t = step->tile;
  int64_t least = std::numeric_limits<int64_t>::max();
  ProductTile best = t;
  const int64_t most_b = step->packed ? 1 : arrays_.mxus;
  for (t.split_b = 1; t.split_b <= most_b; t.split_b *= 2) {
    for (t.split_n = 1; t.split_b * t.split_n <= arrays_.mxus; t.split_n *= 2) {
      t.split_m = arrays_.mxus / (t.split_b * t.split_n);
      const int64_t cycles = Cycles(*step);
      if (cycles >= least) continue;
      least = cycles;
      best = t;
    }
  }
  t = best;
}

bool GradientSteps::CanReadInPlace(const GradientStep& step) const {
  return (!form_.product.rhs.resident || MeetsBordersAtEnds(step)) &&
         (!form_.product.lhs.resident || IsOneRun(step));
}

// Rows of K that a step takes follow one another in the array itself: they are
// transposed as they come.
bool GradientSteps::IsOneRun(const GradientStep& step) const {
  if (step.second.grid() == 1) return true;
  int64_t taps = step.cut.taps;
  for (size_t a = 1; step.second.rows > 1 && a < form_.axes.size(); ++a) {
    taps *= form_.axes[a].taps;
  }
  return taps == 1;
}

// Of an input in VMEM, the steps that meet planes beyond its borders must be
// the first and the last one, whose code leaves them out.
bool GradientSteps::MeetsBordersAtEnds(const GradientStep& step) const {
  const std::optional<int> edge = EdgeAxis(form_, BlockOf(step));
  return edge.has_value() &&
         (*edge < 0 || (*edge == 0 && step.second.grid() == 1));
}

int64_t GradientSteps::Cycles(const GradientStep& step) const {
  const isa::MachineModel& machine = context_.model;
  const ProductTile tile = StreamTile(step);
  const VisitPlan plan = PlanVisits(StreamProblem(step), tile, arrays_);
  const int64_t visits = plan.macros * plan.k_visits;
  const int64_t matmuls =
      visits * std::max(plan.groups * plan.group_cycles, plan.push_cycles);
  const int64_t stores = visits * plan.groups * plan.results * tile.split_b *
                         tile.split_n * tile.split_m /
                         machine.Slots(isa::Slot::kStore);
  const int64_t squares =
      tile.block_k / 128 * CeilOfRatio<int64_t>(tile.block_m, 128);
  const int64_t turns = CeilOfRatio<int64_t>(squares, machine.xlus);
  const int64_t interval = machine.Interval(isa::IntervalKey::kXluTransposeB16);
  const int64_t transposes =
      turns * 8 * interval +
      CeilOfRatio(turns, kTransposesPerUnit) *
          (machine.Latency(isa::LatencyKey::kXluTransposeB16) + 8 * interval);
  const int64_t alone = std::max(matmuls, stores) + transposes +
                        plan.push_cycles + arrays_.latency + kDrain;
  if (!step.packed) return alone;
  const ConvolutionBlock block = GradientPacking::Exchanged(BlockOf(step));
  return alone +
         CostOfPacking(packing_.taps, packing_.exchanged, block, machine)
             .cycles +
         UnpackingCycles(packing_, tile.block_m, machine) /
             (tile.grid_k * step.second.grid());
}

int64_t GradientSteps::KOf(const GradientStep& step) const {
  int64_t k = 8 * form_.RowTiles() * step.cut.taps;
  for (size_t a = 1; a < form_.axes.size(); ++a) k *= form_.axes[a].taps;
  return k / step.second.grid();
}

ConvolutionBlock GradientSteps::BlockOf(const GradientStep& step) const {
  ConvolutionBlock block;
  for (size_t a = 0; a < form_.axes.size(); ++a) {
    block.axes.push_back(
        a == 0   ? step.cut
        : a == 1 ? *CutAxis(form_.axes[a], step.inner, step.second.taps)
                 : *CutAxis(form_.axes[a], 1, 1));
  }
  block.row_tiles = form_.RowTiles() / step.second.rows;
  block.row_grid = step.second.rows;
  return block;
}

ProductTile GradientSteps::StreamTile(const GradientStep& step) const {
  ProductTile tile = step.tile;
  if (!step.packed) return tile;
  tile.block_b = 1;
  tile.block_n = packing_.Columns();
  return tile;
}

ProductProblem GradientSteps::StreamProblem(const GradientStep& step) const {
  ProductProblem problem = form_.product.problem;
  if (!step.packed) return problem;
  problem.batch = 1;
  problem.n = packing_.Columns();
  return problem;
}

}  // namespace ptxla::lowering
