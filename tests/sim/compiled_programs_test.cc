// Programs that the compiler made of real HLO: kernel, tile and bundle take the
// same cycles.
#include <string>

#include "driver/hlo_input.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

class CompiledPrograms
    : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CompiledPrograms, FidelitiesAgreeInCycles) {
  const auto& [file, chip] = GetParam();
  const std::string path = std::string(PTXLA_SOURCE_DIR) +
                           "/../shared/hlo_corpus/openxla_cpu_bench/" + file;
  absl::StatusOr<driver::HloInput> input = driver::ReadHlo(path);
  if (absl::IsNotFound(input.status())) GTEST_SKIP() << "no corpus";
  ASSERT_TRUE(input.ok()) << input.status();
  const chips::Slice slice = TestSlice(chip);
  absl::StatusOr<hlo::CompiledModule> compiled =
      hlo::Compile(std::move(input->module), slice.chip, slice.topology);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  int64_t cycles[3];
  const Fidelity fidelities[] = {Fidelity::kKernel, Fidelity::kTile,
                                 Fidelity::kBundle};
  for (int i = 0; i < 3; ++i) {
    SimOptions options;
    options.fidelity = fidelities[i];
    absl::StatusOr<record::DeviceTrace> trace =
        Simulate(compiled->program, slice, options);
    ASSERT_TRUE(trace.ok())
        << FidelityName(fidelities[i]) << ": " << trace.status();
    cycles[i] = trace->total_cycles();
  }
  EXPECT_EQ(cycles[2], cycles[1]);
  EXPECT_NEAR(cycles[0], cycles[1], 0.01 * cycles[1]);
}

INSTANTIATE_TEST_SUITE_P(
    Files, CompiledPrograms,
    ::testing::Combine(::testing::Values("layer_norm_1x4096x768_bf16.hlo",
                                         "mean_axis_1x4096x1024_bf16.hlo",
                                         "mha_block_1x12x128x64_bf16.hlo"),
                       ::testing::Values("v5e-1", "v6e-1")));

}  // namespace
}  // namespace ptxla::sim
