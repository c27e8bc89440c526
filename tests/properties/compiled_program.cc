#include "tests/properties/compiled_program.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/status.h"
#include "driver/prediction.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/shared_files.h"
#include "tests/support/subprocess.h"

namespace ptxla::testing {

std::vector<std::string> AllChips() { return chips::ChipSpec::Names(); }

absl::StatusOr<CompiledProgram> CompileText(const std::string& text,
                                            const chips::Slice& slice) {
  CompiledProgram p;
  p.slice = slice;
  ASSIGN_OR_RETURN(p.source, hlo::ParseModule(text));
  p.name = absl::StrCat(p.source->name(), " on ", slice.topology.name());
  ASSIGN_OR_RETURN(auto module, hlo::ParseModule(text));
  hlo::CompileOptions options;
  options.pipeline.verify = true;
  ASSIGN_OR_RETURN(
      hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology, options));
  p.program = std::move(compiled.program);
  return p;
}

absl::StatusOr<CompiledProgram> CompileText(const std::string& text,
                                            const std::string& topology) {
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice(topology));
  return CompileText(text, slice);
}

std::vector<std::string> CorpusFiles() {
  return {"openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
          "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
          "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
          "torch_xla_2_9/programs/mlp_mnist_train.hlo",
          "torch_xla_2_9/programs/bert_2l_train.hlo"};
}

absl::StatusOr<std::string> CorpusText(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string path, SharedPath("hlo_corpus/" + file));
  return ReadFile(path);
}

absl::StatusOr<std::string> SmallBertText() {
  TemporaryFolder folder;
  driver::RunRequest request;
  request.workload = "bert_2l";
  request.topology = "v6e-1";
  request.settings = {"vocabulary=512", "batch_per_chip=8", "seq=32"};
  request.fidelity = "roofline";
  request.assumed_effects = false;
  request.dump_to = folder.path();
  RETURN_IF_ERROR(driver::Predict(request).status());
  std::string last;
  for (const std::string& name : folder.List()) {
    if (absl::EndsWith(name, ".traced.hlo")) last = name;
  }
  return ReadFile(absl::StrCat(folder.path(), "/", last));
}

absl::StatusOr<record::DeviceTrace> Run(const isa::Program& program,
                                        const chips::Slice& slice,
                                        const RunOptions& options) {
  sim::SimOptions o;
  o.fidelity = options.fidelity;
  o.memoize = options.memoize;
  o.timings = options.timings;
  return sim::Simulate(program, slice, o);
}

int64_t Cycles(const CompiledProgram& p, sim::Fidelity fidelity, bool memoize) {
  RunOptions options;
  options.fidelity = fidelity;
  options.memoize = memoize;
  const absl::StatusOr<record::DeviceTrace> trace =
      Run(p.program, p.slice, options);
  EXPECT_TRUE(trace.ok()) << p.name << " at " << sim::FidelityName(fidelity)
                          << ": " << trace.status();
  return trace.ok() ? trace->total_cycles() : -1;
}

chips::Slice SliceWith(const std::string& topology,
                       const chips::ChipSpec& chip) {
  chips::SliceOptions options;
  options.chip = &chip;
  return *chips::ParseSlice(topology, options);
}

}  // namespace ptxla::testing
