// Programs that the compiler made of real HLO: kernel, tile and bundle take the
// same cycles.
#include <cstring>
#include <string>
#include <vector>

#include "driver/hlo_input.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "sim/core/program_data.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

hlo::CompileOptions Verified() {
  hlo::CompileOptions options;
  options.pipeline.verify = true;
  return options;
}

class CompiledPrograms
    : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(CompiledPrograms, FidelitiesAgreeInCycles) {
  const auto& [file, chip] = GetParam();
  const auto path = ::ptxla::testing::SharedPath(
      std::string("hlo_corpus/openxla_cpu_bench/") + file);
  if (!path.ok()) GTEST_SKIP() << path.status();
  absl::StatusOr<driver::HloInput> input = driver::ReadHlo(*path);
  ASSERT_TRUE(input.ok()) << input.status();
  const chips::Slice slice = TestSlice(chip);
  absl::StatusOr<hlo::CompiledModule> compiled = hlo::Compile(
      std::move(input->module), slice.chip, slice.topology, Verified());
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

// A chain of dependent adds: the counter on the scalar unit, the state in VMEM.
constexpr char kChain[] = R"(HloModule chain
body {
  s = (s32[], f32[2048], f32[2048]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[2048] get-tuple-element(s), index=1
  b = f32[2048] get-tuple-element(s), index=2
  y = f32[2048] add(x, b)
  ROOT out = (s32[], f32[2048], f32[2048]) tuple(next, y, b)
}
condition {
  s = (s32[], f32[2048], f32[2048]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = f32[2048] parameter(0)
  b = f32[2048] parameter(1)
  init = (s32[], f32[2048], f32[2048]) tuple(zero, x, b)
  loop = (s32[], f32[2048], f32[2048]) while(init), condition=condition, body=body
  ROOT r = f32[2048] get-tuple-element(loop), index=1
})";

TEST(CompiledLoop, RunsOnDataAndTakesTheSameCyclesEverywhere) {
  for (const char* chip : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    auto module = hlo::ParseModule(kChain);
    ASSERT_TRUE(module.ok()) << module.status();
    const chips::Slice slice = TestSlice(chip);
    auto compiled = hlo::Compile(*std::move(module), slice.chip, slice.topology,
                                 Verified());
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    SimOptions options;
    options.fidelity = Fidelity::kTile;
    auto tile = Simulate(compiled->program, slice, options);
    ASSERT_TRUE(tile.ok()) << tile.status();

    ProgramData data(compiled->program, slice, {});
    const std::vector<float> x(2048, 1.0f), b(2048, 0.5f);
    const auto bytes = [](const std::vector<float>& v) {
      return absl::Span<const uint8_t>(
          reinterpret_cast<const uint8_t*>(v.data()), v.size() * sizeof(float));
    };
    ASSERT_OK(data.SetParameter(0, bytes(x)));
    ASSERT_OK(data.SetParameter(1, bytes(b)));
    options.fidelity = Fidelity::kBundle;
    options.data = &data;
    auto bundle = Simulate(compiled->program, slice, options);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    EXPECT_EQ(bundle->total_cycles(), tile->total_cycles()) << chip;
    auto out = data.Output(0);
    ASSERT_TRUE(out.ok()) << out.status();
    for (int k = 0; k < 2048; ++k) {
      float value;
      std::memcpy(&value, out->data() + 4 * k, 4);
      ASSERT_EQ(value, 3.5f) << chip << " " << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, CompiledPrograms,
    ::testing::Combine(::testing::Values("layer_norm_1x4096x768_bf16.hlo",
                                         "mean_axis_1x4096x1024_bf16.hlo",
                                         "mha_block_1x12x128x64_bf16.hlo"),
                       ::testing::Values("v5e-1", "v6e-1")));

}  // namespace
}  // namespace ptxla::sim
