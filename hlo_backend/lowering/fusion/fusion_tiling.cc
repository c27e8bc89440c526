#include "hlo_backend/lowering/fusion/fusion_tiling.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/fusion_windows.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

// Row tiles whose 128 values lie in one row.
constexpr int64_t kRowGroup = 16;

// Base tiles of a body: the windows of the TPU compiler have as many. Longer
// formulas get fewer, or scheduling would take longer than it is worth.
constexpr int kMostTiles = 1024;
constexpr int kMostOperations = 4096;
// Narrower ones are not tried for a better block.
constexpr int kNarrowBody = 4;
// How often a step's block is halved to fit before other blocks are taken.
constexpr int kMostCuts = 2;

bool HasExpandedRows(const Geometry& g) {
  for (const Stream& s : g.streams) {
    if (s.access == Access::kLaneOfRows) return true;
  }
  return false;
}

// Row tiles that expanded rows and rows of a result come in: packed ones share
// their words with others.
int64_t RowGroup(const Geometry& g) {
  int packing = g.result_packing;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kLaneOfRows) {
      packing = std::max(packing, s.array.packing);
    }
  }
  return kRowGroup * packing;
}

bool Reduces(const Geometry& g) {
  return std::any_of(g.axes.begin(), g.axes.end(),
                     [](const Axis& a) { return a.reduced; });
}

// Results of 128 rows share a row of the result.
bool ReducesRows(const Geometry& g) {
  return g.axes[g.column_axis].reduced && g.row_axis >= 0;
}

// The TPU compiler unrolls a step of a reduction whole: copies of the formula
// beyond those of other loops, the most first.
std::vector<int> WholeBodies(const Geometry& g, int copies) {
  std::vector<int> bodies;
  if (!Reduces(g)) return bodies;
  int most = kMostTiles;
  while (most > copies && most * (g.operations + 1) > kMostOperations) {
    most /= 2;
  }
  for (; most > copies; most /= 4) bodies.push_back(most);
  return bodies;
}

// A block of an axis of at most `room` base tiles, about equal to the others.
int64_t BlockOf(const Axis& axis, int64_t room, int64_t multiple) {
  if (axis.tiles <= room) return axis.tiles;
  const int64_t steps = CeilOfRatio(axis.tiles, std::max<int64_t>(1, room));
  const int64_t block =
      RoundUpTo(RoundUpTo(CeilOfRatio(axis.tiles, steps), axis.unit), multiple);
  return std::min(block, axis.tiles);
}

// A block of an axis that chooses rows of arrays larger than a step of `target`
// tiles: whole tiles of rows, or a part of one that others complete, so that a
// window of rows can move along.
int64_t WholeRowTiles(const Geometry& g, int axis, int64_t target,
                      int64_t block) {
  int64_t rows = 1;
  for (const Stream& s : g.streams) {
    if (s.row_axis == axis && s.array.bytes() > target * isa::kVregBytes) {
      rows = std::max(rows, s.array.tile_rows);
    }
  }
  if (rows == 1) return block;
  if (block >= rows) return RoundUpTo(block, rows);
  int64_t part = 1;
  while (part < block) part *= 2;
  return part;
}

// Windows as the TPU compiler cuts them where rows are grouped or reduced: the
// fewest rows whose 128 values make a row, as many columns as the step takes,
// then more rows; of a reduction over rows that is fused with nothing, rows
// first.
void ChooseGroupedBlocks(const Geometry& g, int64_t target, bool rows_first,
                         NestPlan* plan) {
  plan->block.assign(g.axes.size(), 1);
  const Axis& rows = g.axes[g.row_axis];
  const Axis& columns = g.axes[g.column_axis];
  const int64_t group = RowGroup(g);
  int64_t& row_block = plan->block[g.row_axis];
  int64_t& column_block = plan->block[g.column_axis];
  if (rows_first) {
    row_block = BlockOf(rows, target, 1);
    column_block = BlockOf(columns, target / row_block, 1);
  } else {
    const int64_t least = std::min(rows.tiles, group);
    column_block = BlockOf(columns, target / least, 1);
    row_block = BlockOf(rows, std::max(least, target / column_block), group);
  }
  int64_t taken = row_block * column_block;
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    if (g.axes[a].kind != Axis::Kind::kMajor) continue;
    plan->block[a] = std::min(
        g.axes[a].tiles,
        WholeRowTiles(g, a, target, BlockOf(g.axes[a], target / taken, 1)));
    taken *= plan->block[a];
  }
}

// Chooses blocks from the innermost axis outwards.
void ChooseBlocks(const Geometry& g, int64_t target, bool group_rows,
                  bool whole_reduced, NestPlan* plan) {
  plan->block.assign(g.axes.size(), 1);
  int64_t taken = 1;
  for (const Axis& a : g.axes) {
    if (whole_reduced && a.reduced) taken *= a.tiles;
  }
  // Canonical order, columns innermost: contiguous memory first.
  for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
    const Axis& axis = g.axes[a];
    if (whole_reduced && axis.reduced) {
      plan->block[a] = axis.tiles;
      continue;
    }
    const int64_t room = std::max<int64_t>(1, target / taken);
    int64_t block = axis.tiles;
    if (block > room) {
      const int64_t steps = CeilOfRatio(axis.tiles, room);
      block = RoundUpTo(CeilOfRatio(axis.tiles, steps), axis.unit);
      if (axis.kind == Axis::Kind::kRow && group_rows) {
        block = RoundUpTo(block, RowGroup(g));
      }
      block = WholeRowTiles(g, a, target, block);
      block = std::min(block, axis.tiles);
    }
    plan->block[a] = block;
    taken *= block;
  }
}

}  // namespace

NestPlan OrderAxes(const Geometry& g) {
  NestPlan plan;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t a = 0; a < g.axes.size(); ++a) {
      if (g.axes[a].reduced == (pass == 1)) {
        plan.order.push_back(static_cast<int>(a));
      }
    }
    if (pass == 0) plan.reduced_from = static_cast<int>(plan.order.size());
  }
  return plan;
}

absl::StatusOr<FusionTiling> CutFusion(const hlo::Instruction& i,
                                       const Expression& e, const Geometry& g,
                                       int64_t target, int copies) {
  FusionTiling t;
  t.plan = OrderAxes(g);
  const bool rows_reduced = g.row_axis >= 0 && g.axes[g.row_axis].reduced;
  const bool grouped =
      HasExpandedRows(g) ||
      (g.row_axis >= 0 && rows_reduced != g.axes[g.column_axis].reduced);
  if (grouped && e.stages == 1) {
    const bool lone = i.opcode() != hlo::Opcode::kFusion;
    ChooseGroupedBlocks(g, target, rows_reduced && lone, &t.plan);
  } else {
    ChooseBlocks(g, target, HasExpandedRows(g) || ReducesRows(g), e.stages > 1,
                 &t.plan);
  }
  t.plan.grid_dim.assign(g.axes.size(), -1);
  for (int axis : t.plan.order) {
    if (t.plan.block[axis] >= g.axes[axis].tiles) continue;
    t.plan.grid_dim[axis] = static_cast<int>(t.tiling.grid.size());
    t.tiling.grid.push_back(
        CeilOfRatio(g.axes[axis].tiles, t.plan.block[axis]));
  }
  // Unroll columns first, then rows; accumulators of kept columns beside
  // reduced rows stay in registers, so those are fewer.
  t.plan.unroll.assign(g.axes.size(), 1);
  int64_t room = copies;
  const bool columns_kept_rows_reduced = g.row_axis >= 0 &&
                                         g.axes[g.row_axis].reduced &&
                                         !g.axes[g.column_axis].reduced;
  for (int axis : {g.column_axis, g.row_axis}) {
    if (axis < 0) continue;
    const Axis& a = g.axes[axis];
    int64_t most = room;
    if (axis == g.column_axis && columns_kept_rows_reduced) {
      most = std::min<int64_t>(room, 8);
    }
    const int64_t units = std::max<int64_t>(1, most / a.unit);
    t.plan.unroll[axis] =
        a.unit * std::min(units, CeilOfRatio(t.plan.block[axis], a.unit));
    room = std::max<int64_t>(1, room / t.plan.unroll[axis]);
  }
  ASSIGN_OR_RETURN(t.tiling.args, KernelArgs(i));
  RETURN_IF_ERROR(MakeWindows(i, g, &t));
  std::string blocks;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    absl::StrAppend(&blocks, a ? "x" : "", t.plan.block[a]);
  }
  t.tiling.note = absl::StrCat("tiles ", blocks, ", body of ", copies);
  return t;
}

std::vector<int64_t> StepTargets(const KernelContext& context,
                                 const Geometry& g, bool fused) {
  // Bytes of all full streams per base tile.
  int64_t bytes = 0;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kTile) {
      bytes += 4096 / (s.pack_rows * s.pack_columns);
    }
  }
  int64_t total = 1;
  for (const Axis& a : g.axes) total *= a.tiles;
  std::vector<int64_t> targets;
  int64_t budget = VmemBudget(context) * 3 / 4;
  const bool reduces = Reduces(g);
  const auto most = context.chip.Policy(fused     ? "fusion_tiles"
                                        : reduces ? "lone_reduction_tiles"
                                                  : "lone_operation_tiles");
  if (most.has_value()) {
    // As many as fit twice, and a quarter of them: work that takes longer than
    // its loads gains from small first and last blocks.
    budget = static_cast<int64_t>(
        static_cast<double>(VmemBudget(context)) *
        context.chip.Policy("fusion_vmem_share").value_or(0.75));
    const int64_t fit = budget / std::max<int64_t>(1, 2 * bytes);
    const int64_t tiles =
        std::max<int64_t>(8, std::min(static_cast<int64_t>(*most), fit));
    targets = {tiles};
    if (tiles / 4 < total && tiles >= 128 && !reduces)
      targets.push_back(tiles / 4);
    if (reduces && !fused && tiles < total) {
      // The TPU's compiler keeps several blocks under way; two larger ones are
      // as many bytes. Which of both hides more is the estimate's to say.
      const int64_t wide =
          tiles *
          static_cast<int64_t>(
              context.chip.Policy("lone_reduction_buffers").value_or(2)) /
          2;
      if (wide > tiles && wide <= fit) targets.push_back(wide);
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

namespace {

int64_t TilesOf(const Geometry& g) {
  int64_t total = 1;
  for (const Axis& a : g.axes) total *= a.tiles;
  return total;
}

// Base tiles of a step where each core makes one: the outermost axis that can
// be cut is.
int64_t TilesOfCore(const Geometry& g, int cores) {
  const int64_t total = TilesOf(g);
  for (const Axis& axis : g.axes) {
    if (axis.tiles <= axis.unit) continue;
    const int64_t block =
        RoundUpTo(CeilOfRatio<int64_t>(axis.tiles, cores), axis.unit);
    return total / axis.tiles * block;
  }
  return total;
}

// Elementwise work of few tiles is one grid step of each core, its loads and
// stores not hidden: `policy.single_step_tiles` of the chip (tpu_slots.md,
// section 5).
// A reduction to one tile of results is on every chip.
bool MakesOneStep(const KernelContext& context, const Geometry& g) {
  const int64_t tiles = TilesOf(g);
  double most = context.chip.Policy("single_step_tiles").value_or(0);
  if (Reduces(g)) {
    int64_t kept = 1;
    for (const Axis& a : g.axes) kept *= a.reduced ? 1 : a.elements;
    if (kept <= 1024) most = kMostTiles;
  }
  if (static_cast<double>(tiles) > most) return false;
  int64_t bytes = 0;
  for (const Stream& s : g.streams) {
    if (s.access == Access::kPartial) return false;  // a reduce cuts itself
    if (s.access == Access::kTile) {
      bytes += 4096 / (s.pack_rows * s.pack_columns);
    }
  }
  return bytes * tiles <= VmemBudget(context) * 3 / 4;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitWidestThatFits(const KernelContext& context,
                                               const Geometry& g, bool fused,
                                               const MakeTiling& make) {
  struct Attempt {
    int copies;
    bool spills;
  };
  std::vector<Attempt> attempts;
  const std::vector<int> candidates = UnrollCandidates(context, g);
  const std::vector<int> whole = WholeBodies(g, candidates[0]);
  for (const int copies : whole) attempts.push_back({copies, false});
  if (g.uses_eup && whole.empty()) {
    const UnrollPolicy policy = UnrollPolicy::Of(context.chip);
    for (int wider = policy.loaded_registers_eup / policy.loaded_registers;
         wider > 1; wider /= 2) {
      attempts.push_back({candidates[0] * wider, false});
    }
  }
  for (const int copies : candidates) attempts.push_back({copies, false});
  attempts.push_back({attempts.back().copies, true});
  absl::Status failure;
  std::optional<Tiling> chosen;
  Picoseconds chosen_time;
  bool all_fit = false;  // every block of the last attempt
  const auto fits = [&](const Tiling& t) {
    return VmemBytes(context, t) <= VmemBudget(context);
  };
  for (const Attempt& attempt : attempts) {
    // Wider bodies drain less often, but some need so many registers that the
    // scheduler waits for them: they compete with the others.
    const bool wide = attempt.copies > candidates[0];
    if (wide && chosen && !whole.empty() && all_fit) continue;
    std::vector<Tiling> tilings;
    for (int64_t target : StepTargets(context, g, fused)) {
      // A block that all but fits is better halved than given up.
      for (int cut = 0; cut <= kMostCuts && target > 0; ++cut, target /= 2) {
        ASSIGN_OR_RETURN(Tiling tiling,
                         make(attempt.copies, target, attempt.spills));
        tiling.spills = attempt.spills;
        tilings.push_back(std::move(tiling));
        if (fits(tilings.back())) break;
      }
    }
    // Many arrays, or windows that an axis makes larger than was asked for; and
    // blocks that leave room for what is spilled.
    const int64_t smallest = StepTargets(context, g, fused).back();
    for (int64_t target = smallest / 2;
         target > 0 && (std::none_of(tilings.begin(), tilings.end(), fits) ||
                        (attempt.spills && target >= smallest / 4));
         target /= 2) {
      ASSIGN_OR_RETURN(Tiling tiling,
                       make(attempt.copies, target, attempt.spills));
      tiling.spills = attempt.spills;
      tilings.push_back(std::move(tiling));
    }
    if (chosen && attempt.spills) break;
    // One step of each core is no choice where the TPU's compiler makes it.
    if (MakesOneStep(context, g)) {
      ASSIGN_OR_RETURN(Tiling tiling,
                       make(attempt.copies, TilesOfCore(g, context.model.cores),
                            attempt.spills));
      tiling.spills = attempt.spills;
      if (StepsOfCore(tiling, context.model.cores) == 1 && fits(tiling)) {
        if (!attempt.spills) tilings.clear();
        tilings.push_back(std::move(tiling));
      }
    }
    const bool alone = tilings.size() == 1 && !chosen && !wide;
    std::vector<TilingScore> scores;
    const auto best = ChooseTiling(context, tilings, alone ? nullptr : &scores);
    failure = best.status();
    if (best.ok()) {
      const Picoseconds time = alone ? Picoseconds(0) : scores[*best].time;
      if (!chosen || time < chosen_time) {
        chosen = std::move(tilings[*best]);
        chosen_time = time;
      }
      // Where some blocks need too many registers, a narrower body may take a
      // better block.
      all_fit = true;
      for (size_t k = 0; k < scores.size() && !alone; ++k) {
        all_fit &= scores[k].time > Picoseconds(0) ||
                   VmemBytes(context, tilings[k]) > VmemBudget(context);
      }
      if (wide || (!all_fit && attempt.copies > kNarrowBody)) continue;
    } else if (!chosen && absl::IsResourceExhausted(failure)) {
      continue;
    }
    if (!chosen) return failure;
    auto kernel = FrameKernel(context, *chosen);
    if (kernel.ok()) return kernel;
    failure = kernel.status();
    if (!absl::IsResourceExhausted(failure)) return failure;
    chosen.reset();
  }
  if (chosen) return FrameKernel(context, *chosen);
  return failure;
}

std::vector<int> UnrollCandidates(const KernelContext& context,
                                  const Geometry& g) {
  // A packed register is loaded once for several base tiles.
  double loads = 0;
  int unit = 1;
  for (const Stream& s : g.streams) {
    const int pack = s.pack_rows * s.pack_columns;
    if (s.node >= 0 && s.access == Access::kTile) loads += 1.0 / pack;
    unit = std::max(unit, pack);
  }
  const UnrollPolicy policy = UnrollPolicy::Of(context.chip);
  const int copies = std::max(unit, policy.Copies(std::max(loads, 0.25)));
  std::vector<int> candidates;
  for (int c = copies; c >= 1; c /= 2) candidates.push_back(c);
  return candidates;
}

}  // namespace ptxla::lowering
