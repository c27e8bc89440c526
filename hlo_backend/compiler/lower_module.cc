#include "hlo_backend/compiler/lower_module.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "base/status.h"
#include "hlo_backend/compiler/chip_cost_model.h"
#include "hlo_backend/compiler/kernel_windows.h"
#include "hlo_backend/compiler/refused_operands.h"
#include "hlo_backend/compiler/schedule_leaves.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/lowering/lowering.h"
#include "hlo_backend/lowering/lowering_cache.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/scheduled/fusion_splitter.h"
#include "isa/from_chip_spec.h"

namespace ptxla::hlo {
namespace {

// More than the ways in which a fusion is taken apart
// (docs/compiler/scheduled_modules.md).
constexpr int kMostRefusals = 8;
// Kernels whose arrays come to VMEM, or leave it again, have other windows.
// Should they never settle, all goes back to where it was after so many plans.
// ASSUMED.
constexpr int kMostPlansByWindows = 8;
constexpr int64_t kNoLimit = int64_t{1} << 60;

isa::Space SpaceOf(int memory_space) {
  switch (memory_space) {
    case kMemoryVmem:
      return isa::Space::kVmem;
    case kMemoryCmem:
      return isa::Space::kCmem;
    case kMemoryHost:
      return isa::Space::kHost;
    case kMemorySmem:
      return isa::Space::kSmem;
    default:
      return isa::Space::kHbm;
  }
}

lowering::Placement PlacementOf(const BufferPlan& plan) {
  lowering::Placement placement;
  for (const PlannedBuffer& b : plan.buffers) {
    isa::Buffer buffer;
    buffer.id = b.id;
    buffer.name = b.name;
    buffer.bytes = b.bytes;
    buffer.space = SpaceOf(b.memory_space);
    buffer.offset = b.offset;
    buffer.alias = b.alias_of;
    buffer.label = b.label;
    placement.buffers.push_back(std::move(buffer));
  }
  for (const auto& [instruction, refs] : plan.leaves) {
    for (int leaf = 0; leaf < static_cast<int>(refs.size()); ++leaf) {
      if (refs[leaf].buffer < 0) continue;
      isa::BufferSlice slice;
      slice.buffer = refs[leaf].buffer;
      slice.offset = refs[leaf].offset;
      placement.places[{instruction, leaf}] = slice;
    }
  }
  return placement;
}

using Names = absl::flat_hash_set<std::string>;

// Values that found no room in VMEM go to HBM, until all the others have some;
// their names are added to `crowded_out`. `windows`: where they are known.
absl::StatusOr<PlannedMemory> PlanMemory(
    const ScheduleLeaves& schedule, const std::optional<KernelWindows>& windows,
    Names* crowded_out) {
  while (true) {
    ASSIGN_OR_RETURN(
        PlannedMemory memory,
        PlanUntilOverflow(schedule, windows.has_value() ? &*windows : nullptr));
    if (memory.vmem_overflow.empty()) return memory;
    for (const auto& [value, leaf] : memory.vmem_overflow) {
      crowded_out->insert(std::string(WholeName(value->name())));
      MoveToHbm(const_cast<Instruction*>(value), leaf);
    }
  }
}

bool HasAny(const Module& module,
            absl::FunctionRef<bool(const Instruction&)> which) {
  for (const Computation* c : ControlComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      if (which(*i)) return true;
    }
  }
  return false;
}

lowering::LoweringOptions OptionsOf(const CompileOptions& options) {
  lowering::LoweringOptions lower;
  lower.earlier = options.earlier;
  lower.cache = options.cache;
  lower.assumed_trip_count = options.assumed_trip_count;
  return lower;
}

// What the kernels that stand for one fusion hand on: in the fusion it was
// registers.
bool IsPart(const Instruction& i) { return WholeName(i.name()) != i.name(); }

// Results that were put into VMEM when kernels had been made.
class PlacedInVmem {
 public:
  explicit PlacedInVmem(std::vector<KernelResult> placed)
      : placed_(std::move(placed)) {}

  bool empty() const { return placed_.empty(); }

  // What kernels touch that are refused so goes back to HBM. False: they touch
  // none.
  bool GiveBack(absl::FunctionRef<bool(const Instruction&)> refused) {
    const auto touched = [&](const KernelResult& r) {
      return refused(*r.maker) || IsReadBy(*r.maker, refused);
    };
    const auto end = std::stable_partition(
        placed_.begin(), placed_.end(),
        [&](const KernelResult& r) { return !touched(r); });
    if (end == placed_.end()) return false;
    for (auto it = end; it != placed_.end(); ++it) {
      SetMemorySpace(it->maker, it->index, kMemoryHbm);
    }
    placed_.erase(end, placed_.end());
    return true;
  }

 private:
  static bool IsReadBy(const Instruction& value,
                       absl::FunctionRef<bool(const Instruction&)> which) {
    for (const Instruction* user : value.users()) {
      if (OnlyNamesMemory(*user) ? IsReadBy(*user, which) : which(*user)) {
        return true;
      }
    }
    return false;
  }

  std::vector<KernelResult> placed_;
};

// Parts of fusions, where there is room beside what the schedule put there.
PlacedInVmem PutParts(Module* module, const chips::ChipSpec& chip) {
  return PlacedInVmem(
      PutIntoVmem(module->entry(), WholeRoomForResidents(chip), IsPart));
}

// Whether the scoped limit leaves room for all that the schedule put into VMEM,
// but perhaps for holes between.
bool FitsInVmem(const Module& module, const chips::ChipSpec& chip) {
  const Computation& entry = *module.entry();
  RangeMaximum live(entry.instruction_count());
  AddVmemResidents(entry, PositionsOf(entry), &live);
  return live.Maximum(0, entry.instruction_count() - 1) <=
         WholeRoomForResidents(chip);
}

// The same where the windows of kernels leave room. Of a schedule that does not
// fit, what was crowded out and all parts: the plan chooses among all residents
// by their worth. Both cores of a chip with CMEM have their residents there
// alone.
PlacedInVmem PutWhereWindowsAreSmall(Module* module,
                                     const chips::ChipSpec& chip,
                                     const KernelWindows& windows, bool fits,
                                     const Names& crowded_out) {
  if (chip.cmem().count() > 0 || WholeRoomForResidents(chip) <= 0) {
    return PlacedInVmem({});
  }
  const auto may = [&](const Instruction& i) {
    return IsPart(i) || crowded_out.contains(WholeName(i.name()));
  };
  if (fits) {
    return PlacedInVmem(
        PutIntoVmem(module->entry(), chip.vmem().usable.count(), may,
                    [&](const Instruction& i) { return windows.Within(i); }));
  }
  return PlacedInVmem(PutIntoVmem(module->entry(), kNoLimit, may));
}

}  // namespace

absl::StatusOr<LoweredModule> LowerModule(Module* module,
                                          const chips::ChipSpec& chip,
                                          const CompileOptions& options) {
  LoweredModule result;
  const ChipCostModel cost(chip);
  PassContext context;
  context.chip = &chip;
  context.cost = &cost;
  context.options = options.passes;
  std::optional<Pipeline> anew;
  std::optional<FusionSplitter> splitter;
  lowering::LoweringOptions lower = OptionsOf(options);
  std::optional<lowering::LoweringCache> mine;
  if (lower.cache == nullptr) {
    lower.cache = &mine.emplace(isa::FromChipSpec(chip));
  }
  std::optional<PlacedInVmem> parts, beside_windows;
  std::optional<KernelWindows> windows;
  const bool fits = FitsInVmem(*module, chip);
  Names crowded_out;
  int plans_by_windows = 0;
  // How often the same kernels were refused. A fusion has few ways of being
  // taken apart; a part that is the whole again would have them for ever.
  std::map<std::set<uint64_t>, int> refusals;
  const auto make_splitter = [&]() -> absl::Status {
    if (splitter.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(anew, LoadPipeline("body"));
    splitter.emplace(context, &*anew);
    return absl::OkStatus();
  };
  const auto compiled_first = [&](const Instruction& i) {
    return IsCompiledFirst(i, context);
  };
  if (HasAny(*module, compiled_first)) {
    RETURN_IF_ERROR(make_splitter());
    RETURN_IF_ERROR(splitter->Run(module, compiled_first).status());
  }
  RETURN_IF_ERROR(CheckScheduled(*module)) << "while planning memory";
  // Until the module changes in more than where values lie.
  std::optional<ScheduleLeaves> schedule;
  while (true) {
    if (!schedule.has_value()) schedule.emplace(*module, chip);
    ASSIGN_OR_RETURN(result.memory,
                     PlanMemory(*schedule, windows, &crowded_out),
                     _ << "while planning memory");
    lowering::LoweringStats stats;
    auto program = lowering::Lower(*module, PlacementOf(result.memory.plan),
                                   chip, lower, &stats);
    if (program.ok()) {
      bool again = false;
      if (!parts.has_value()) {
        parts = PutParts(module, chip);
        again = !parts->empty();
      }
      if (!again) {
        const KernelWindows now = WindowsOf(*module, *program, chip);
        if (!beside_windows.has_value()) {
          beside_windows =
              PutWhereWindowsAreSmall(module, chip, now, fits, crowded_out);
          again = !beside_windows->empty();
          if (again) windows = now;
        } else if (windows.has_value()) {
          again = windows->Raise(now);
          if (again && ++plans_by_windows == kMostPlansByWindows) {
            beside_windows->GiveBack([](const Instruction&) { return true; });
            windows.reset();
          }
        }
      }
      if (!again) {
        result.program = *std::move(program);
        return result;
      }
      lower.cache->Keep(std::move(program->kernels));
      continue;
    }
    schedule.reset();
    const absl::flat_hash_set<uint64_t> refused(stats.refused.begin(),
                                                stats.refused.end());
    if (refused.empty()) return program.status();
    const auto is_refused = [&](const Instruction& i) {
      return refused.contains(KernelFingerprint(i));
    };
    if ((beside_windows.has_value() && beside_windows->GiveBack(is_refused)) ||
        (parts.has_value() && parts->GiveBack(is_refused))) {
      lower.cache->Keep(std::move(stats.made));
      continue;
    }
    if (BringWindowsToHbm(module, refused, chip)) {
      lower.cache->Keep(std::move(stats.made));
      continue;
    }
    RETURN_IF_ERROR(make_splitter());
    bool split = false;
    if (++refusals[{refused.begin(), refused.end()}] <= kMostRefusals) {
      ASSIGN_OR_RETURN(split, splitter->Run(module, is_refused));
    }
    if (!split && !BringToHbm(module, refused)) {
      const bool estimate =
          options.estimate_unknown_ops &&
          lower.unknown_ops != lowering::LoweringOptions::UnknownOps::kEstimate;
      if (!estimate) return program.status();
      lower.unknown_ops = lowering::LoweringOptions::UnknownOps::kEstimate;
    }
    lower.cache->Keep(std::move(stats.made));
  }
}

}  // namespace ptxla::hlo
