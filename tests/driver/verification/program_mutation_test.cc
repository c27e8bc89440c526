// Every opcode that the programs use matters: with another meaning of any one
// of them, some kernel of theirs computes something else.
#include <algorithm>
#include <cstdio>
#include <map>

#include "driver/hlo_input.h"
#include "driver/verification/inputs.h"
#include "driver/verification/parameter_roles.h"
#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"
#include "isa/semantics/mutant.h"
#include "sim/simulator.h"
#include "tests/driver/verification/recorded_kernel.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

// The smallest kernels that use an opcode are enough to try.
constexpr size_t kTried = 40;

struct Recording {
  hlo::CompiledModule compiled;
  std::unique_ptr<KernelRecorder> recorder;
};

// Masks with some negative entries: code for signs has to matter too.
std::vector<hlo::Literal> Inputs(const hlo::Module& module) {
  std::vector<hlo::Literal> inputs = MakeInputs(module, 1);
  const std::vector<ParameterRole> roles = RolesOf(module);
  for (size_t k = 0; k < roles.size(); ++k) {
    if (roles[k].kind != ParameterRole::kFlag) continue;
    for (int64_t i = 0; i < inputs[k].ElementCount(); i += 5) {
      inputs[k].SetInt(i, -inputs[k].GetInt(i));
    }
  }
  return inputs;
}

absl::StatusOr<std::unique_ptr<Recording>> Record(const std::string& file,
                                                  const chips::Slice& slice) {
  ASSIGN_OR_RETURN(const std::string path,
                   ::ptxla::testing::SharedPath("hlo_corpus/" + file));
  ASSIGN_OR_RETURN(HloInput input, ReadHlo(path));
  const std::unique_ptr<hlo::Module> module = input.module->Clone();
  auto r = std::make_unique<Recording>();
  hlo::CompileOptions options;
  options.pipeline.verify = true;
  ASSIGN_OR_RETURN(r->compiled,
                   hlo::Compile(std::move(input.module), slice.chip,
                                slice.topology, options));
  hlo::EvaluatorOptions evaluator;
  evaluator.tpu_mode = true;
  evaluator.tpu_generation = slice.chip.generation();
  r->recorder = std::make_unique<KernelRecorder>(r->compiled, evaluator);
  RETURN_IF_ERROR(ExecuteBundles(r->compiled.program, slice, Inputs(*module),
                                 {}, r->recorder.get()));
  return r;
}

TEST(ProgramMutationTest, EveryOpcodeInUseIsNoticed) {
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v6e-1"));
  const isa::MachineModel machine = isa::FromChipSpec(slice.chip);
  std::vector<std::unique_ptr<Recording>> recordings;
  std::map<isa::Opcode, std::vector<const RecordedKernel*>> users;
  for (const char* file : {"openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
                           "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
                           "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
                           "torch_xla_2_9/programs/mlp_mnist_train.hlo",
                           "torch_xla_2_9/programs/bert_2l_train.hlo"}) {
    auto recording = Record(file, slice);
    if (absl::IsNotFound(recording.status())) {
      GTEST_SKIP() << recording.status();
    }
    ASSERT_TRUE(recording.ok()) << recording.status();
    recordings.push_back(*std::move(recording));
    for (const RecordedKernel& k : recordings.back()->recorder->kernels()) {
      for (const isa::Opcode op : OpcodesOf(*k.kernel)) users[op].push_back(&k);
    }
  }
  int caught = 0;
  for (auto& [op, kernels] : users) {
    if (op == isa::Opcode::kNop) continue;
    // Maxima along lanes are those of softmaxes, which are the same whatever is
    // subtracted (row_epilogue_test.cc has a maximum that matters).
    if (op == isa::Opcode::kVmaxXlane) continue;
    std::sort(kernels.begin(), kernels.end(),
              [](const auto* a, const auto* b) { return a->cost < b->cost; });
    const isa::SemanticsTable mutant = isa::MutantTable(op);
    const isa::SemanticsTable real = isa::SemanticsTable::Default();
    bool noticed = false;
    for (size_t k = 0; k < kernels.size() && k < kTried && !noticed; ++k) {
      ASSERT_TRUE(kernels[k]->IsRight(machine, real)) << kernels[k]->name;
      noticed = !kernels[k]->IsRight(machine, mutant);
    }
    EXPECT_TRUE(noticed) << isa::Info(op).mnemonic
                         << " may mean anything, e.g. in "
                         << kernels.front()->name;
    caught += noticed ? 1 : 0;
  }
  EXPECT_GT(caught, 60);
  RecordProperty("opcodes", static_cast<int>(users.size()));
  RecordProperty("caught", caught);
  std::printf("%d opcodes changed and noticed\n", caught);
}

}  // namespace
}  // namespace ptxla::driver
