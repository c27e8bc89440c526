// A small residual network with its pooling and its gradients, as torch_xla
// traces it: do all of its kernels together compute what the module means, and
// do the fidelities agree?
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "sim/core/program_data.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

// Stem of 3 features, maximum pooling, a strided 3x3 and a projection, mean;
// then gradients of both weights and of what the pooling gave.
constexpr char kNetwork[] = R"(HloModule m
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] maximum(a, b) }
ge { a = f32[] parameter(0)
     b = f32[] parameter(1)
     ROOT c = pred[] compare(a, b), direction=GE }
ENTRY e {
  x = f32[8,3,30,30] parameter(0)
  w0 = f32[16,3,7,7] parameter(1)
  w1 = f32[32,16,3,3] parameter(2)
  w2 = f32[32,16,1,1] parameter(3)
  d = f32[8,32,4,4] parameter(4)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  c0 = f32[8,16,15,15] convolution(x, w0), window={size=7x7 stride=2x2 pad=3_3x3_3}, dim_labels=bf01_oi01->bf01
  z0 = f32[8,16,15,15] broadcast(zero), dimensions={}
  r0 = f32[8,16,15,15] maximum(c0, z0)
  pad = f32[8,16,17,17] pad(r0, least), padding=0_0x0_0x1_1x1_1
  p0 = f32[8,16,8,8] reduce-window(pad, least), window={size=1x1x3x3 stride=1x1x2x2}, to_apply=max
  c1 = f32[8,32,4,4] convolution(p0, w1), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  c2 = f32[8,32,4,4] convolution(p0, w2), window={size=1x1 stride=2x2}, dim_labels=bf01_oi01->bf01
  s = f32[8,32,4,4] add(c1, c2)
  mean = f32[8,32] reduce(s, zero), dimensions={2,3}, to_apply=add
  g1 = f32[3,3,16,32] convolution(p0, d), window={size=4x4 pad=1_0x1_0 rhs_dilate=2x2}, dim_labels=fb01_io01->01bf
  t1 = f32[32,16,3,3] transpose(g1), dimensions={3,2,0,1}
  u1 = f32[32,16,3,3] subtract(w1, t1)
  v1 = f32[32,16,3,3] reverse(w1), dimensions={2,3}
  dp = f32[8,16,8,8] convolution(d, v1), window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, dim_labels=bf01_io01->bf01
  ds = f32[8,16,15,15] select-and-scatter(r0, dp, zero), window={size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1}, select=ge, scatter=add
  g0 = f32[7,7,3,16] convolution(x, ds), window={size=15x15 pad=3_2x3_2 rhs_dilate=2x2}, dim_labels=fb01_io01->01bf
  t0 = f32[16,3,7,7] transpose(g0), dimensions={3,2,0,1}
  ROOT r = (f32[8,32], f32[32,16,3,3], f32[16,3,7,7], f32[8,16,15,15]) tuple(mean, u1, t0, ds)
})";

class ConvolutionNetwork : public ::testing::TestWithParam<std::string> {};

TEST_P(ConvolutionNetwork, EqualsTheEvaluatorAtEveryFidelity) {
  ASSERT_OK_AND_ASSIGN(const CompiledProgram p,
                       CompileText(kNetwork, GetParam()));
  sim::ProgramData data(p.program, p.slice);
  std::vector<hlo::Literal> arguments;
  for (size_t k = 0; k < p.program.parameters.size(); ++k) {
    const hlo::Shape& shape =
        p.source->entry()->parameter(static_cast<int>(k))->shape();
    const double range = k == 0 ? 1 : 0.25;
    arguments.push_back(lowering::RandomLiteral(shape, k + 1, -range, range));
    const auto bytes = arguments.back().mutable_bytes();
    ASSERT_OK(data.SetParameter(
        k, absl::MakeSpan(reinterpret_cast<const uint8_t*>(bytes.data()),
                          bytes.size())));
  }
  sim::SimOptions options;
  options.fidelity = Fidelity::kBundle;
  options.data = &data;
  ASSERT_OK(sim::Simulate(p.program, p.slice, options).status());
  hlo::EvaluatorOptions tpu;
  tpu.tpu_mode = true;
  tpu.tpu_generation = std::max(2, p.slice.chip.generation());
  ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                       hlo::Evaluate(*p.source, arguments, tpu));
  for (size_t k = 0; k < expected.elements().size(); ++k) {
    const hlo::Literal& want = expected.elements()[k];
    ASSERT_OK_AND_ASSIGN(const std::vector<uint8_t> bytes,
                         data.Output(static_cast<int>(k)));
    EXPECT_EQ(
        lowering::Differences(
            want, hlo::Literal::FromBytes(want.shape(), bytes), 0.02, 0.02),
        "")
        << "output " << k;
  }
  const int64_t tile = Cycles(p, Fidelity::kTile);
  EXPECT_EQ(Cycles(p, Fidelity::kBundle), tile);
  EXPECT_NEAR(static_cast<double>(Cycles(p, Fidelity::kKernel)),
              static_cast<double>(tile), 0.01 * static_cast<double>(tile));
}

INSTANTIATE_TEST_SUITE_P(Chips, ConvolutionNetwork,
                         ::testing::ValuesIn(AllChips()));

}  // namespace
}  // namespace ptxla::testing
