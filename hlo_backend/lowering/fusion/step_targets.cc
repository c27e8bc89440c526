#include "hlo_backend/lowering/fusion/step_targets.h"

#include <algorithm>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"

namespace ptxla::lowering {

namespace {

int64_t BlockOfCore(const Axis& axis, int cores) {
  return RoundUpTo(CeilOfRatio<int64_t>(axis.tiles, cores), axis.core_unit);
}

// Of two cores each has a step, of results of its own.
int64_t KeptByCore(const Geometry& g, int cores) {
  const int64_t total = TilesOf(g);
  for (const Axis& axis : g.axes) {
    if (cores == 1 || axis.reduced || axis.tiles <= axis.core_unit) continue;
    return total / axis.tiles * BlockOfCore(axis, cores);
  }
  return total;
}

// Bytes of VMEM for the windows of a fusion, which hold two steps.
int64_t WindowBudget(const KernelContext& context) {
  return static_cast<int64_t>(
      static_cast<double>(VmemBudget(context)) *
      chips::CompilerPolicy(context.chip, "fusion_vmem_share"));
}

// Base tiles of a step where a core is to have several, so that they hide one
// another's transfers.
int64_t MostOfFew(const KernelContext& context, int64_t total) {
  const auto steps = context.chip.Policy("least_steps");
  const auto tiles = context.chip.Policy("least_step_tiles");
  if (!steps || !tiles) return total;
  const int64_t of_core = CeilOfRatio<int64_t>(total, context.model.cores);
  return std::max(static_cast<int64_t>(*tiles),
                  CeilOfRatio(of_core, static_cast<int64_t>(*steps)));
}

// Of a core: what its windows take once, and what is kept of each tile's
// values.
bool FitsOneStep(const KernelContext& context, const Geometry& g) {
  const auto bytes = context.chip.Policy("single_step_bytes");
  if (!bytes) return false;
  const double of_tile =
      static_cast<double>(BytesOfTile(g)) +
      chips::CompilerPolicy(context.chip, "single_step_values");
  return static_cast<double>(TilesOfCore(g, context.model.cores)) * of_tile <=
         *bytes;
}

}  // namespace

int64_t TilesOfCore(const Geometry& g, int cores) {
  const int64_t total = TilesOf(g);
  for (const Axis& axis : g.axes) {
    if (axis.tiles <= axis.core_unit) continue;
    return total / axis.tiles * BlockOfCore(axis, cores);
  }
  return total;
}

bool MakesOneStep(const KernelContext& context, const Geometry& g) {
  const int64_t tiles = TilesOf(g);
  double most = context.chip.Policy("single_step_tiles").value_or(0);
  const bool has_rows =
      std::any_of(g.streams.begin(), g.streams.end(),
                  [](const Stream& s) { return s.array.rank() >= 2; });
  if (has_rows && FitsOneStep(context, g)) most = std::max<double>(most, tiles);
  if (context.stage) most = kMostTiles;
  if (Reduces(g)) {
    int64_t kept = 1;
    for (const Axis& a : g.axes) kept *= a.reduced ? 1 : a.elements;
    if (kept <= 1024) most = std::max<double>(most, kMostTiles);
  }
  if (static_cast<double>(tiles) > most) return false;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kPartial) return false;  // a reduce cuts itself
  }
  return BytesOfTile(g) * tiles <= VmemBudget(context) * 3 / 4;
}

std::vector<int64_t> StepTargets(const KernelContext& context,
                                 const Geometry& g, bool fused) {
  const int64_t bytes = BytesOfTile(g);
  const int64_t total = TilesOf(g);
  std::vector<int64_t> targets;
  int64_t budget = VmemBudget(context) * 3 / 4;
  const bool reduces = Reduces(g);
  const auto most = context.chip.Policy(fused     ? "fusion_tiles"
                                        : reduces ? "lone_reduction_tiles"
                                                  : "lone_operation_tiles");
  if (most.has_value()) {
    // As many as fit twice, and a quarter of them for long formulas, which gain
    // from small first and last blocks.
    budget = WindowBudget(context);
    const int64_t fit = budget / std::max<int64_t>(1, 2 * bytes);
    int64_t tiles =
        std::max<int64_t>(8, std::min(static_cast<int64_t>(*most), fit));
    if (fused && !reduces) tiles = std::min(tiles, MostOfFew(context, total));
    const int64_t share =
        std::max<int64_t>(8, KeptByCore(g, context.model.cores));
    if (share < std::min(tiles, total)) targets.push_back(share);
    targets.push_back(tiles);
    if (tiles / 4 < total && tiles >= 128 && fused && !reduces) {
      targets.push_back(tiles / 4);
    }
  } else {
    for (const int64_t tiles : {128, 512, 32, 2048}) {
      if (2 * bytes * tiles > budget) continue;
      targets.push_back(tiles);
      if (tiles >= total) break;
    }
  }
  // Blocks of grouped rows are many rows high, whatever the target: narrow
  // ones for where that is too much.
  const int64_t wide = RowGroup(g) * g.axes[g.column_axis].tiles;
  if (HasExpandedRows(g) || (ReducesRows(g) && 2 * bytes * wide > budget)) {
    targets.insert(targets.end(), {8, 2});
  }
  if (targets.empty()) targets.push_back(8);
  return targets;
}

// More than VMEM has room for (603 of 605 tiles, not 619) libtpu 0.0.42.1 does
// not take.
int64_t MostTilesOfStep(const KernelContext& context, const Geometry& g,
                        int64_t target) {
  if (Reduces(g)) return target;
  const int64_t fit =
      WindowBudget(context) / std::max<int64_t>(1, 2 * BytesOfTile(g));
  const auto most = static_cast<int64_t>(
      static_cast<double>(target) *
      (1 + chips::CompilerPolicy(context.chip, "step_excess")));
  return std::max(target, std::min(most, fit));
}

}  // namespace ptxla::lowering
