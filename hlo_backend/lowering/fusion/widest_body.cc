// Which of a fusion's steps and bodies is the fastest that fits.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/loop_state.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/step_targets.h"
#include "hlo_backend/lowering/fusion/stream_buffers.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

// Of the windows of the TPU compiler; longer formulas get bodies of fewer
// tiles, or scheduling would take longer than it is worth.
constexpr int kMostOperations = 4096;
// Narrower ones are not tried for a better block.
constexpr int kNarrowBody = 4;
// Code of so many times the cycles of its vector operations waits for
// registers: a narrower body may wait less.
constexpr int64_t kStarved = 3;
// A whole body of so many times may.
constexpr int64_t kWaitsAWhile = 2;
// How often a step's block is halved to fit before other blocks are taken.
constexpr int kMostCuts = 2;

// The TPU compiler unrolls a step whole (tpu_slots.md, section 5): copies of
// the formula beyond those of the unroll policy, the most first.
std::vector<int> WholeBodies(const Geometry& g, int copies) {
  std::vector<int> bodies;
  int most = kMostTiles;
  while (most > copies && most * (g.operations + 1) > kMostOperations) {
    most /= 2;
  }
  for (; most > copies; most /= 4) bodies.push_back(most);
  return bodies;
}

// Code that takes so much longer than the memory is that of a long formula,
// whose blocks are smaller. DERIVED: windows of GELU by the error function,
// libtpu 0.0.42.1: 256 tiles on v6e (1.6), 832 on v5e (1.3).
constexpr double kLongFormula = 1.5;

// The code of all steps takes longer than the memory for their blocks, or
// `times` as long.
bool ComputesLongerThanItLoads(const KernelContext& context, const Geometry& g,
                               const Tiling& tiling, const TilingScore& score,
                               double times = 1) {
  const memory::HbmModel hbm(context.chip);
  const Picoseconds loads =
      hbm.Busy({Bytes(BytesOfTile(g) * TilesOf(g)), false});
  const Picoseconds code = context.chip.core().clock.ToTime(
      score.step * StepsOfCore(tiling, context.model.cores));
  return static_cast<double>(code.count()) >
         times * static_cast<double>(loads.count());
}

bool ReadsOnlyVmem(const Tiling& tiling) {
  return std::all_of(tiling.windows.begin(), tiling.windows.end(),
                     [&](const isa::Window& w) {
                       return w.direction == isa::Direction::kOut ||
                              w.space == isa::Space::kSmem ||
                              tiling.args[w.arg].space == isa::Space::kVmem;
                     });
}

// The code takes `times` the cycles of its vector operations, and the memory
// less; or there is none to wait for, in sums of what is in VMEM.
bool WaitsForRegisters(const KernelContext& context, const Geometry& g,
                       const Tiling& tiling, const TilingScore& score,
                       int64_t times = kStarved) {
  const int64_t cycles = CeilOfRatio<int64_t>(
      TilesOf(g) * g.operations,
      context.model.Slots(isa::Slot::kVector) * context.model.cores);
  return score.step * StepsOfCore(tiling, context.model.cores) >
             Cycles(times * cycles) &&
         ((Reduces(g) && ReadsOnlyVmem(tiling)) ||
          ComputesLongerThanItLoads(context, g, tiling, score));
}

// Streams take the largest blocks that fit, which come first, unless they are
// of a long formula; `scores` is of those looked at.
absl::StatusOr<size_t> ChooseBlocks(const KernelContext& context,
                                    const Geometry& g,
                                    absl::Span<const Tiling> tilings,
                                    std::vector<TilingScore>* scores) {
  const auto is_taken = [&](size_t k) {
    return !ComputesLongerThanItLoads(context, g, tilings[k], (*scores)[k],
                                      kLongFormula);
  };
  // The others are runners-up, for whoever asks.
  if (context.log == nullptr &&
      VmemBytes(context, tilings[0]) <= VmemBudget(context)) {
    const auto largest = Score(context, tilings[0]);
    if (largest.ok()) {
      *scores = {*largest};
      if (is_taken(0)) return size_t{0};
    }
  }
  ASSIGN_OR_RETURN(const size_t best, ChooseTiling(context, tilings, scores));
  size_t first = 0;
  while ((*scores)[first].time == Picoseconds(0)) ++first;
  return is_taken(first) ? first : best;
}

// One step that writes a loop's state in VMEM where it reads it, not through
// windows: the TPU compiler does not move loads over stores to the same array,
// so few registers are under way: `policy.in_place_registers` are loaded, of
// all operands together.
absl::StatusOr<std::optional<Tiling>> InPlaceTiling(
    const KernelContext& context, const hlo::Instruction& i, const Geometry& g,
    const MakeTiling& make) {
  const auto registers = context.chip.Policy("in_place_registers");
  if (!registers || Reduces(g) || !MakesOneStep(context, g) ||
      !hlo::UpdatesLoopState(i)) {
    return std::nullopt;
  }
  int pack = 1, loaded = 0;
  for (const Stream& s : g.streams) {
    if (s.access != Access::kTile) return std::nullopt;
    pack = std::max(pack, s.pack_rows * s.pack_columns);
    loaded += s.node >= 0;
  }
  const int registers_of_each =
      std::max(1, static_cast<int>(*registers) / std::max(1, loaded));
  ASSIGN_OR_RETURN(Tiling tiling,
                   make(registers_of_each * pack,
                        TilesOfCore(g, context.model.cores), false));
  const bool resident = std::all_of(
      tiling.windows.begin(), tiling.windows.end(), [&](const isa::Window& w) {
        return tiling.args[w.arg].space == isa::Space::kVmem;
      });
  if (!resident || StepsOfCore(tiling, context.model.cores) > 1) {
    return std::nullopt;
  }
  return tiling;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitWidestThatFits(const KernelContext& context,
                                               const hlo::Instruction& i,
                                               const Geometry& g,
                                               const MakeTiling& make) {
  // Plain copies have the windows of fusions: the TPU compiler's of 33 shapes
  // on four chips (libtpu 0.0.42.1).
  const bool fused =
      i.opcode() == hlo::Opcode::kFusion || i.opcode() == hlo::Opcode::kCopy;
  struct Attempt {
    int copies;
    bool spills;
  };
  std::vector<Attempt> attempts;
  const std::vector<int> candidates = UnrollCandidates(context, g);
  const std::vector<int> whole = WholeBodies(g, candidates[0]);
  attempts.reserve(whole.size() + candidates.size());
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
  const auto tiling_of = [&](int copies, int64_t target,
                             bool spills) -> absl::StatusOr<Tiling> {
    ASSIGN_OR_RETURN(Tiling tiling, make(copies, target, spills));
    tiling.spills = spills;
    AddStreamBuffers(context, &tiling);
    return tiling;
  };
  ASSIGN_OR_RETURN(const std::optional<Tiling> in_place,
                   InPlaceTiling(context, i, g, tiling_of));
  if (in_place) {
    auto kernel = FrameKernel(context, *in_place);
    if (kernel.ok()) return kernel;
  }
  absl::Status failure;
  std::optional<Tiling> chosen;
  Picoseconds chosen_time;
  bool all_fit = false;  // every block of the last attempt
  bool waits = false;    // its best one does, for registers
  const auto fits = [&](const Tiling& t) {
    return VmemBytes(context, t) <= VmemBudget(context);
  };
  for (const Attempt& attempt : attempts) {
    // Wider bodies drain less often, but some need so many registers that the
    // scheduler waits for them: they compete with the others.
    const bool wide = attempt.copies > candidates[0];
    if (wide && chosen && !whole.empty() && all_fit && !waits) continue;
    std::vector<Tiling> tilings;
    for (int64_t target : StepTargets(context, g, fused)) {
      // A block that all but fits is better halved than given up.
      for (int cut = 0; cut <= kMostCuts && target > 0; ++cut, target /= 2) {
        ASSIGN_OR_RETURN(Tiling tiling,
                         tiling_of(attempt.copies, target, attempt.spills));
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
                       tiling_of(attempt.copies, target, attempt.spills));
      tilings.push_back(std::move(tiling));
    }
    if (chosen && attempt.spills) break;
    // One step of each core is no choice where the TPU's compiler makes it.
    if (MakesOneStep(context, g)) {
      ASSIGN_OR_RETURN(
          Tiling tiling,
          tiling_of(attempt.copies, TilesOfCore(g, context.model.cores),
                    attempt.spills));
      if (StepsOfCore(tiling, context.model.cores) == 1 && fits(tiling)) {
        if (!attempt.spills) tilings.clear();
        tilings.push_back(std::move(tiling));
      }
    }
    // Steps of a reduction in VMEM hide no loads, they only drain the units.
    if (Reduces(g) && !attempt.spills && !MakesOneStep(context, g) &&
        static_cast<double>(BytesOfTile(g) * TilesOf(g)) <=
            context.chip.Policy("resident_reduction_bytes").value_or(0)) {
      ASSIGN_OR_RETURN(Tiling tiling,
                       tiling_of(attempt.copies,
                                 TilesOfCore(g, context.model.cores), false));
      if (ReadsOnlyVmem(tiling) && fits(tiling)) {
        tilings.push_back(std::move(tiling));
      }
    }
    const bool alone = tilings.size() == 1 && !chosen && !wide;
    const bool streams = fused && !Reduces(g) && !MakesOneStep(context, g);
    std::vector<TilingScore> scores;
    const auto best =
        streams && !alone
            ? ChooseBlocks(context, g, tilings, &scores)
            : ChooseTiling(context, tilings, alone ? nullptr : &scores);
    failure = best.status();
    if (best.ok()) {
      const Picoseconds time = alone ? Picoseconds(0) : scores[*best].time;
      const bool starved =
          (streams || KeepsColumnsOfRows(g)) && !alone && !wide &&
          attempt.copies > kNarrowBody &&
          WaitsForRegisters(context, g, tilings[*best], scores[*best]);
      waits = Reduces(g) && !alone &&
              WaitsForRegisters(context, g, tilings[*best], scores[*best],
                                kWaitsAWhile);
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
      // The TPU compiler unrolls a step whole, whichever banks its loads meet.
      const bool taken =
          wide && all_fit && g.row_of_tiles > 1 && context.model.vmem_banks > 0;
      if (!taken &&
          (wide || starved || (!all_fit && attempt.copies > kNarrowBody))) {
        continue;
      }
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
