#include "hlo_backend/compiler/compiler.h"

#include <chrono>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/partitioning.h"
#include "hlo_backend/compiler/lower_module.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/scheduled/unschedule.h"
#include "isa/from_chip_spec.h"
#include "isa/verifier.h"

namespace ptxla::hlo {
namespace {

double MsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

int64_t CallsIn(const isa::Schedule& schedule) {
  int64_t calls = 0;
  for (const isa::Op& op : schedule) {
    if (std::holds_alternative<isa::Call>(op.action)) {
      ++calls;
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      calls += CallsIn(loop->condition) + CallsIn(loop->body);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) calls += CallsIn(s);
    }
  }
  return calls;
}

absl::Status CheckPartitioned(const Module& module) {
  const Instruction* sharded = FindUnpartitioned(module);
  if (sharded == nullptr) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      Describe(*sharded), ": the module",
      module.config().num_partitions > 1
          ? absl::StrCat(" is for ", module.config().num_partitions,
                         " partitions and")
          : " is",
      " still to be partitioned by its shardings, which is not "
      "done here; take the module after partitioning (of --xla_dump_to: "
      "after_optimizations, or a stage after spmd-partitioning)"));
}

// Names of the fusions of a module that is scheduled.
std::vector<std::string> ScheduledFusions(const Module& module) {
  std::vector<std::string> names;
  if (!module.config().is_scheduled || !HasTiledLayouts(module)) return names;
  for (const Computation* c : module.computations()) {
    if (c->IsFusionComputation()) continue;
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kFusion) names.push_back(i->name());
    }
  }
  return names;
}

std::vector<std::string> Missing(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
  const absl::flat_hash_set<absl::string_view> there(after.begin(),
                                                     after.end());
  std::vector<std::string> missing;
  for (const std::string& name : before) {
    if (!there.contains(name)) missing.push_back(name);
  }
  return missing;
}

}  // namespace

absl::StatusOr<PassedModule> CompilePasses(std::unique_ptr<Module> module,
                                           const chips::ChipSpec& chip,
                                           const chips::Topology& topology,
                                           const CompileOptions& options) {
  PassedModule result;
  result.hlo_instructions = module->instruction_count();
  CostOptions cost_options;
  cost_options.device_count = topology.num_devices();
  result.cost = CostAnalysis(cost_options).Of(*module);

  result.fusions = ScheduledFusions(*module);
  const bool is_given = !result.fusions.empty();
  const auto start = std::chrono::steady_clock::now();
  if (options.verify_input) RETURN_IF_ERROR(VerifyModule(*module));
  RETURN_IF_ERROR(CheckPartitioned(*module));
  ASSIGN_OR_RETURN(result.passes, RunPasses(module.get(), chip, options));
  if (!is_given) result.fusions = ScheduledFusions(*module);
  result.passes_ms = MsSince(start);
  result.module = std::move(module);
  return result;
}

absl::StatusOr<CompiledModule> CompilePassed(PassedModule passed,
                                             const chips::ChipSpec& chip,
                                             const CompileOptions& options) {
  CompiledModule result;
  result.effort.hlo_instructions = passed.hlo_instructions;
  result.cost = passed.cost;
  result.passes = std::move(passed.passes);
  result.passes_ms = passed.passes_ms;
  std::unique_ptr<Module> module = std::move(passed.module);

  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(LoweredModule lowered,
                   LowerModule(module.get(), chip, options));
  PlannedMemory& memory = lowered.memory;
  result.program = std::move(lowered.program);
  result.lowering_ms = MsSince(start);
  result.effort.optimised_instructions = module->instruction_count();
  result.taken_apart = Missing(passed.fusions, ScheduledFusions(*module));
  // No kernel uses more VMEM or registers than the chip has, or a slot twice.
  if (options.pipeline.verify) {
    RETURN_IF_ERROR(isa::VerifyProgram(result.program, isa::FromChipSpec(chip)))
        << result.program.name << " on " << chip.name();
  }

  result.effort.kernels = CallsIn(result.program.schedule);
  result.effort.distinct_kernels =
      static_cast<int64_t>(result.program.kernels.size());
  result.buffers = std::move(memory.plan);
  result.memory = memory.stats;
  result.largest_at_peak = std::move(memory.largest_at_peak);
  result.module = std::move(module);
  return result;
}

absl::StatusOr<CompiledModule> Compile(std::unique_ptr<Module> module,
                                       const chips::ChipSpec& chip,
                                       const chips::Topology& topology,
                                       const CompileOptions& options) {
  ASSIGN_OR_RETURN(PassedModule passed,
                   CompilePasses(std::move(module), chip, topology, options));
  return CompilePassed(std::move(passed), chip, options);
}

}  // namespace ptxla::hlo
