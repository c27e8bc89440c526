#include "hlo_backend/compiler/lower_module.h"

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
#include "hlo_backend/compiler/late_residents.h"
#include "hlo_backend/compiler/refused_operands.h"
#include "hlo_backend/compiler/schedule_leaves.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/lowering/known_instructions.h"
#include "hlo_backend/lowering/lowering.h"
#include "hlo_backend/lowering/lowering_cache.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/scheduled/fusion_splitter.h"
#include "hlo_backend/passes/scheduled/part_names.h"
#include "isa/from_chip_spec.h"

namespace ptxla::hlo {
namespace {

// More than the ways in which a fusion is taken apart
// (docs/compiler/scheduled_modules.md).
constexpr int kMostRefusals = 8;

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

class ModuleLowerer {
 public:
  ModuleLowerer(Module* module, const chips::ChipSpec& chip,
                const CompileOptions& options)
      : module_(module),
        chip_(chip),
        cost_(chip),
        estimate_(options.estimate_unknown_ops),
        memory_first_(options.memory_first),
        lower_(OptionsOf(options)) {
    context_.chip = &chip;
    context_.cost = &cost_;
    context_.options = options.passes;
    if (lower_.cache == nullptr) {
      lower_.cache = &mine_.emplace(isa::FromChipSpec(chip));
    }
    lower_.known = &known_;
  }

  absl::StatusOr<LoweredModule> Run() {
    LateResidents residents(module_, chip_);
    RETURN_IF_ERROR(CompileFirst());
    RETURN_IF_ERROR(CheckScheduled(*module_)) << "while planning memory";
    Names crowded_out;
    // Until the module changes in more than where values lie.
    std::optional<ScheduleLeaves> schedule;
    while (true) {
      if (!schedule.has_value()) schedule.emplace(*module_, chip_);
      ASSIGN_OR_RETURN(PlannedMemory memory,
                       PlanMemory(*schedule, residents.windows(), &crowded_out),
                       _ << "while planning memory");
      lowering::LoweringStats stats;
      auto program = lowering::Lower(*module_, PlacementOf(memory.plan), chip_,
                                     lower_, &stats);
      if (!program.ok()) {
        schedule.reset();
        known_.Clear();
        const absl::Status otherwise =
            DoOtherwise(program.status(), stats, &residents);
        if (!otherwise.ok()) {
          const bool fits = memory::CheckFit(memory.stats, chip_).verdict !=
                            memory::Verdict::kOutOfMemory;
          if (fits || !memory_first_) return otherwise;
          return LoweredModule{std::move(memory), isa::Program()};
        }
        lower_.cache->Keep(std::move(stats.made));
        continue;
      }
      if (!residents.Move(*program, crowded_out)) {
        return LoweredModule{std::move(memory), *std::move(program)};
      }
      lower_.cache->Keep(std::move(program->kernels));
    }
  }

 private:
  absl::Status CompileFirst() {
    const auto first = [&](const Instruction& i) {
      return IsCompiledFirst(i, context_);
    };
    if (!HasAny(*module_, first)) return absl::OkStatus();
    RETURN_IF_ERROR(MakeSplitter());
    return splitter_->Run(module_, first).status();
  }

  absl::Status MakeSplitter() {
    if (splitter_.has_value()) return absl::OkStatus();
    ASSIGN_OR_RETURN(anew_, LoadPipeline("body"));
    splitter_.emplace(context_, &*anew_);
    return absl::OkStatus();
  }

  // Changes the module, or what lowering may do, where kernels are refused.
  // `why`, if there is nothing left to try.
  absl::Status DoOtherwise(const absl::Status& why,
                           const lowering::LoweringStats& stats,
                           LateResidents* residents) {
    const absl::flat_hash_set<uint64_t> refused(stats.refused.begin(),
                                                stats.refused.end());
    if (refused.empty()) return why;
    const auto is_refused = [&](const Instruction& i) {
      return refused.contains(KernelFingerprint(i));
    };
    if (residents->GiveBack(is_refused) ||
        BringWindowsToHbm(module_, refused, chip_) ||
        CopyScalarsToHbm(module_, refused, chip_)) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(MakeSplitter());
    bool split = false;
    if (++refusals_[{refused.begin(), refused.end()}] <= kMostRefusals) {
      ASSIGN_OR_RETURN(split, splitter_->Run(module_, is_refused));
    }
    if (split || BringToHbm(module_, refused)) return absl::OkStatus();
    using UnknownOps = lowering::LoweringOptions::UnknownOps;
    if (!estimate_ || lower_.unknown_ops == UnknownOps::kEstimate) return why;
    lower_.unknown_ops = UnknownOps::kEstimate;
    return absl::OkStatus();
  }

  Module* const module_;
  const chips::ChipSpec& chip_;
  const ChipCostModel cost_;
  PassContext context_;
  const bool estimate_, memory_first_;
  lowering::LoweringOptions lower_;
  std::optional<lowering::LoweringCache> mine_;
  lowering::KnownInstructions known_;
  std::optional<Pipeline> anew_;
  std::optional<FusionSplitter> splitter_;
  // How often the same kernels were refused. A fusion has few ways of being
  // taken apart; a part that is the whole again would have them for ever.
  std::map<std::set<uint64_t>, int> refusals_;
};

}  // namespace

absl::StatusOr<LoweredModule> LowerModule(Module* module,
                                          const chips::ChipSpec& chip,
                                          const CompileOptions& options) {
  return ModuleLowerer(module, chip, options).Run();
}

}  // namespace ptxla::hlo
