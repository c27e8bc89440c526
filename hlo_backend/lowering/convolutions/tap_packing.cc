#include "hlo_backend/lowering/convolutions/tap_packing.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::lowering {
namespace {

// Lanes of a tap. Where K is in the rows of the weights, their tiles decide.
int64_t TapLanes(int64_t features, bool transposed) {
  if (transposed) return features;
  return features <= 4 ? 4 : RoundUpTo<int64_t>(features, 8);
}

// Cycles of packing one register from `parts` others.
int64_t PackCycles(int64_t parts, int64_t loads, int64_t vectors,
                   const isa::MachineModel& m) {
  const int64_t rotates = CeilOfRatio<int64_t>(
      (parts - 1) * m.Interval(isa::IntervalKey::kXlu), m.xlus);
  return std::max({rotates,
                   CeilOfRatio<int64_t>(loads, m.Slots(isa::Slot::kLoad)),
                   CeilOfRatio<int64_t>(vectors, m.Slots(isa::Slot::kVector))});
}

}  // namespace

TapPacking TapPacking::Of(const ConvolutionForm& form,
                          const ArrayShape& arrays) {
  TapPacking p;
  const int64_t whole = form.product.problem.k / hlo::kLanes;
  const int64_t features = form.product.problem.k % hlo::kLanes;
  // Weights with K in lanes are moved to their places by the XLU: many of them
  // would hold the arrays up.
  const bool transposed = form.product.problem.rhs.transposed;
  if (form.gradient || form.axes.empty() || features == 0 ||
      features > hlo::kLanes / 2 || (whole > 0 && transposed) || !arrays.bf16) {
    return p;
  }
  for (const WindowAxis& a : form.axes) {
    if (a.base_dilation != 1) return p;
  }
  const int64_t lanes = TapLanes(features, transposed);
  const int64_t most = hlo::kLanes / lanes, taps = form.axes.back().taps;
  // Rows of narrow tiles are taken across runs.
  if (lanes < 8 && taps > most) return p;
  for (int64_t t = 0; t < taps; t += most) {
    p.runs.push_back({t, std::min(most, taps - t)});
  }
  const int64_t outer = form.Taps() / taps;
  for (size_t r = 0; r < p.runs.size(); ++r) {
    const int64_t together = hlo::kLanes / (p.runs[r].taps * lanes);
    for (int64_t o = 0; o < outer; o += together) {
      p.tiles.push_back(
          {static_cast<int>(r), o, std::min(together, outer - o)});
    }
  }
  if (static_cast<int64_t>(p.tiles.size()) < form.Taps()) {
    p.tap_lanes = lanes;
    p.whole_tiles = whole;
  }
  return p;
}

int64_t OuterPlanes(const ConvolutionForm& form,
                    const ConvolutionBlock& block) {
  int64_t planes = 1;
  for (size_t a = 0; a + 1 < form.axes.size(); ++a) {
    planes *= block.axes[a].planes;
  }
  return planes;
}

int64_t OuterOutputs(const ConvolutionBlock& block) {
  int64_t outputs = 1;
  for (size_t a = 0; a + 1 < block.axes.size(); ++a) {
    outputs *= block.axes[a].outputs;
  }
  return outputs;
}

bool IsPacked(const TapPacking& packing, const ConvolutionBlock& block) {
  return packing.packs() && block.TapGrid() == 1;
}

int64_t PackedTilesAcross(const ConvolutionBlock& block) {
  return RoundUpTo<int64_t>(block.axes.back().outputs * block.row_tiles, 2);
}

PackingCost CostOfPacking(const TapPacking& packing,
                          const ConvolutionForm& form,
                          const ConvolutionBlock& block,
                          const isa::MachineModel& machine) {
  PackingCost cost;
  if (!IsPacked(packing, block)) return cost;
  const int64_t across = PackedTilesAcross(block);
  const bool f32 = form.product.lhs.type == hlo::PrimitiveType::kF32;
  const int64_t planes = OuterPlanes(form, block) * across;
  for (const TapPacking::Run& run : packing.runs) {
    if (run.taps == 1) continue;
    cost.bytes += planes * kPackedTile;
    // Masks, and conversions of f32.
    cost.cycles += CeilOfRatio<int64_t>(planes, 2) *
                   PackCycles(run.taps, run.taps * (f32 ? 2 : 1),
                              run.taps * (f32 ? 3 : 2), machine);
  }
  const int64_t results = OuterOutputs(block) * across;
  for (const TapPacking::Tile& tile : packing.tiles) {
    if (tile.count == 1) continue;
    cost.bytes += results * kPackedTile;
    const bool raw = packing.runs[tile.run].taps == 1;
    cost.cycles += CeilOfRatio<int64_t>(results, 2) *
                   PackCycles(tile.count, tile.count * (raw && f32 ? 2 : 1),
                              tile.count * (raw ? f32 ? 3 : 2 : 1), machine);
  }
  return cost;
}

}  // namespace ptxla::lowering
