#include "driver/transform.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text_proto.h"
#include "chips/topology.h"
#include "driver/hlo_input.h"
#include "driver/stage.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/passes/pipeline.h"
#include "isa/asm.h"
#include "lazy/graph_text.h"
#include "lazy/lowering.h"
#include "record/device_trace.pb.h"
#include "sim/simulator.h"

namespace ptxla::driver {
namespace {

constexpr const char* kStageNames[] = {"lazy", "hlo", "scheduled", "tpuasm",
                                       "trace"};

absl::StatusOr<lazy::ParsedGraph> ParseLazy(const std::string& text,
                                            const std::string& name) {
  auto graph = lazy::ParseGraph(text);
  if (graph.ok()) return graph;
  return At("parse", AddContext(graph.status(), name));
}

absl::StatusOr<std::unique_ptr<hlo::Module>> LowerLazy(
    const lazy::Graph& graph) {
  lazy::LoweringOptions options;
  options.donors = lazy::MarkedDonors(graph);
  auto module = lazy::LowerToHlo(graph, options);
  if (!module.ok()) return At("trace", module.status());
  return module;
}

absl::Status RunNamedPasses(hlo::Module* module, const chips::Slice& slice,
                            const TransformOptions& options) {
  ASSIGN_OR_RETURN(const hlo::Pipeline pipeline,
                   hlo::Pipeline::FromNames(options.passes));
  hlo::PassContext context;
  context.chip = &slice.chip;
  hlo::PipelineOptions run;
  run.verify = true;
  return pipeline.Run(module, context, run).status();
}

absl::StatusOr<std::string> Written(const hlo::Module& module,
                                    const TransformOptions& options) {
  auto bytes = hlo::WriteModule(module, options.format);
  if (!bytes.ok()) return At("output", bytes.status());
  return bytes;
}

absl::StatusOr<std::string> Simulate(const isa::Program& program,
                                     const chips::Slice& slice,
                                     const TransformOptions& options) {
  sim::SimOptions simulate;
  ASSIGN_OR_RETURN(simulate.fidelity, sim::ParseFidelity(options.fidelity));
  auto trace = sim::Simulate(program, slice, simulate);
  if (!trace.ok()) return At("simulate", trace.status());
  return PrintTextProto(*trace);
}

}  // namespace

const char* StageName(Stage stage) {
  return kStageNames[static_cast<int>(stage)];
}

absl::StatusOr<Stage> ParseStage(absl::string_view name) {
  for (Stage s : {Stage::kLazy, Stage::kHlo, Stage::kScheduled, Stage::kTpuasm,
                  Stage::kTrace}) {
    if (name == StageName(s)) return s;
  }
  return absl::InvalidArgumentError(
      UnknownName("stage", name,
                  {std::begin(kStageNames), std::end(kStageNames)})
          .message());
}

absl::StatusOr<std::string> Transform(const std::string& text,
                                      const std::string& name,
                                      const TransformOptions& options) {
  if (options.to < options.from) {
    return At("arguments", absl::InvalidArgumentError(absl::StrCat(
                               "cannot go back from ", StageName(options.from),
                               " to ", StageName(options.to))));
  }
  ASSIGN_OR_RETURN(const chips::Slice slice,
                   chips::ParseSlice(options.topology));
  if (options.from == Stage::kTrace) {
    record::DeviceTrace trace;
    RETURN_IF_ERROR(At("parse", ParseTextProto(text, name, &trace)));
    return PrintTextProto(trace);
  }
  if (options.from == Stage::kTpuasm) {
    auto program = isa::ParseProgram(text, name);
    if (!program.ok()) return At("parse", program.status());
    if (options.to == Stage::kTpuasm) return isa::Print(*program);
    return Simulate(*program, slice, options);
  }
  std::unique_ptr<hlo::Module> module;
  if (options.from == Stage::kLazy) {
    ASSIGN_OR_RETURN(const lazy::ParsedGraph parsed, ParseLazy(text, name));
    const std::vector<int> donors = lazy::MarkedDonors(parsed.graph);
    if (options.to == Stage::kLazy) {
      return lazy::PrintGraph(parsed.graph, donors);
    }
    ASSIGN_OR_RETURN(module, LowerLazy(parsed.graph));
  } else {
    HloInputOptions read;
    read.elided = options.elided;
    read.sizes = options.sizes;
    read.allow_unknown_sizes =
        options.to == options.from || options.to == Stage::kHlo;
    ASSIGN_OR_RETURN(HloInput input, ReadHloBytes(text, name, read));
    module = std::move(input.module);
  }
  if (!options.passes.empty()) {
    RETURN_IF_ERROR(
        At("compile", RunNamedPasses(module.get(), slice, options)));
  }
  if (options.to == options.from || options.to == Stage::kHlo) {
    return Written(*module, options);
  }
  hlo::CompileOptions compile;
  compile.pipeline.verify = true;
  compile.pipeline.disabled = options.disabled_passes;
  compile.estimate_unknown_ops = options.estimate_unknown_ops;
  compile.assumed_trip_count = options.assumed_trip_count;
  if (options.to == Stage::kScheduled) {
    RETURN_IF_ERROR(At(
        "compile", hlo::RunPasses(module.get(), slice.chip, compile).status()));
    return Written(*module, options);
  }
  auto compiled =
      hlo::Compile(std::move(module), slice.chip, slice.topology, compile);
  if (!compiled.ok()) return At("compile", compiled.status());
  if (options.to == Stage::kTpuasm) return isa::Print(compiled->program);
  return Simulate(compiled->program, slice, options);
}

}  // namespace ptxla::driver
