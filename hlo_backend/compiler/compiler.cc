#include "hlo_backend/compiler/compiler.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/partitioning.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/lowering.h"
#include "hlo_backend/passes/memory_space_assignment.h"
#include "isa/from_chip_spec.h"
#include "isa/verifier.h"

namespace ptxla::hlo {
namespace {

double MsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

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
      Describe(*sharded), ": the module is for ",
      module.config().num_partitions,
      " partitions and still to be partitioned by its shardings, which is not "
      "done here; take the module after partitioning (of --xla_dump_to: "
      "after_optimizations, or a stage after spmd-partitioning)"));
}

// Values that found no room in VMEM go to HBM, until all the others have some.
absl::StatusOr<PlannedMemory> PlanMemory(Module* module,
                                         const chips::ChipSpec& chip) {
  while (true) {
    ASSIGN_OR_RETURN(PlannedMemory memory, PlanBuffers(*module, chip));
    if (memory.vmem_overflow.empty()) return memory;
    for (const auto& [maker, element] : memory.vmem_overflow) {
      SetMemorySpace(const_cast<Instruction*>(maker), element, kMemoryHbm);
    }
  }
}

}  // namespace

absl::StatusOr<CompiledModule> Compile(std::unique_ptr<Module> module,
                                       const chips::ChipSpec& chip,
                                       const chips::Topology& topology,
                                       const CompileOptions& options) {
  CompiledModule result;
  result.effort.hlo_instructions = module->instruction_count();
  CostOptions cost_options;
  cost_options.device_count = topology.num_devices();
  result.cost = CostAnalysis(cost_options).Of(*module);

  auto start = std::chrono::steady_clock::now();
  if (options.verify_input) RETURN_IF_ERROR(VerifyModule(*module));
  RETURN_IF_ERROR(CheckPartitioned(*module));
  ASSIGN_OR_RETURN(result.passes, RunPasses(module.get(), chip, options));
  result.effort.optimised_instructions = module->instruction_count();
  ASSIGN_OR_RETURN(PlannedMemory memory, PlanMemory(module.get(), chip),
                   _ << "while planning memory");
  result.passes_ms = MsSince(start);

  start = std::chrono::steady_clock::now();
  lowering::LoweringOptions lower;
  lower.earlier = options.earlier;
  lower.assumed_trip_count = options.assumed_trip_count;
  if (options.estimate_unknown_ops) {
    lower.unknown_ops = lowering::LoweringOptions::UnknownOps::kEstimate;
  }
  ASSIGN_OR_RETURN(
      result.program,
      lowering::Lower(*module, PlacementOf(memory.plan), chip, lower));
  result.lowering_ms = MsSince(start);
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

}  // namespace ptxla::hlo
