// From a module to a program for one chip: the TPU pipeline, buffer assignment,
// lowering.
//
//   ASSIGN_OR_RETURN(CompiledModule c,
//                    Compile(std::move(module), chip, topology, options));
//   simulate(c.program);
//
// A module that is scheduled already keeps its order, fusions, layouts and
// memory spaces: only buffers are assigned and kernels made.
#ifndef PTXLA_HLO_BACKEND_COMPILER_COMPILER_H_
#define PTXLA_HLO_BACKEND_COMPILER_COMPILER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/chip_spec.h"
#include "chips/topology.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/lowering/earlier_programs.h"
#include "hlo_backend/passes/pipeline.h"
#include "isa/program.h"
#include "memory_model/buffer_assignment.h"

namespace ptxla::lowering {
class LoweringCache;
}  // namespace ptxla::lowering

namespace ptxla::hlo {

struct CompileOptions {
  PassOptions passes;
  // verify (the module after every pass, and the program: isa::VerifyProgram),
  // disabled passes, dumps.
  PipelineOptions pipeline;
  // "" means tpu; else an embedded pipeline's name ("none", "simplify") or a
  // path of a textproto.
  std::string pipeline_name;
  // Custom calls and opcodes without a kernel become a roofline estimate that
  // reports mark, instead of Unimplemented.
  bool estimate_unknown_ops = false;
  // A module that lacks a kernel and does not fit into HBM either compiles to
  // an empty program, instead of Unimplemented: for who reports memory, and
  // asks memory::CheckFit before anything runs.
  bool memory_first = false;
  // Trip count of a loop whose own depends on data; 0: Unimplemented.
  int64_t assumed_trip_count = 0;
  // Check the module before anything else. Not needed for one that has been
  // checked when it was read, or that was traced.
  bool verify_input = true;
  // LoweringOptions::earlier: compiled with the same chip and options.
  lowering::EarlierPrograms earlier;
  // LoweringOptions::cache: for programs of the same chip and options.
  lowering::LoweringCache* cache = nullptr;
};

// How much there was to compile. XLA's compile time is predicted from
// hlo_instructions alone (runtime/host_costs.h).
struct CompileEffort {
  int64_t hlo_instructions = 0;        // as handed in
  int64_t optimised_instructions = 0;  // after the passes, bodies included
  int64_t kernels = 0;                 // calls in the schedule
  int64_t distinct_kernels = 0;
};

struct CompiledModule {
  std::unique_ptr<Module> module;  // scheduled, with layouts
  BufferPlan buffers;
  memory::MemoryStats memory;
  std::vector<memory::LiveBuffer> largest_at_peak;
  isa::Program program;
  std::vector<PassReport> passes;
  Cost cost;  // of the module as it was handed in
  // Fusions, of the schedule that was given or else of ours, which no kernel of
  // ours can be: several kernels stand for each.
  std::vector<std::string> taken_apart;
  CompileEffort effort;
  double passes_ms = 0, lowering_ms = 0;  // of this process
};

// Half way: the passes have run.
struct PassedModule {
  std::unique_ptr<Module> module;
  Cost cost;                         // of the module as it was handed in
  int64_t hlo_instructions = 0;      // and its instructions
  std::vector<std::string> fusions;  // of the schedule
  std::vector<PassReport> passes;
  double passes_ms = 0;
};

// The first half of Compile: it needs nothing of other programs, so it may run
// beside the second half of one.
absl::StatusOr<PassedModule> CompilePasses(std::unique_ptr<Module> module,
                                           const chips::ChipSpec& chip,
                                           const chips::Topology& topology,
                                           const CompileOptions& options = {});
absl::StatusOr<CompiledModule> CompilePassed(
    PassedModule passed, const chips::ChipSpec& chip,
    const CompileOptions& options = {});

// InvalidArgument: the module is not valid. Unimplemented: an instruction has
// no kernel. Memory is not checked against the chip: memory::CheckFit does.
absl::StatusOr<CompiledModule> Compile(std::unique_ptr<Module> module,
                                       const chips::ChipSpec& chip,
                                       const chips::Topology& topology,
                                       const CompileOptions& options = {});

// The passes alone: what ptxla-opt --passes and tests use. The module is
// scheduled afterwards if the pipeline schedules.
absl::StatusOr<std::vector<PassReport>> RunPasses(
    Module* module, const chips::ChipSpec& chip,
    const CompileOptions& options = {});

// Memory of a scheduled module.
struct PlannedMemory {
  BufferPlan plan;
  memory::MemoryStats stats;
  std::vector<memory::LiveBuffer> largest_at_peak;  // indices into plan.buffers
  // Leaves (instruction, number in ForEachLeaf order) that the module puts into
  // VMEM and that cannot be there: there is no room in the holes between
  // others, or what shares their memory lies in HBM.
  std::vector<std::pair<const Instruction*, int>> vmem_overflow;
};
absl::StatusOr<PlannedMemory> PlanBuffers(const Module& scheduled,
                                          const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_COMPILER_H_
