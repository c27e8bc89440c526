// A cross-entropy of masked labels with its gradients: do kernels compute what
// the module means where the gradient of the scores takes the scores' place,
// and where each product that reads it computes it again?
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "sim/core/program_data.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

// $0: how wide the rows are. $1: the scores, $2: what is summed up by columns.
// Of scores that a product makes here, and a gradient that is summed up, as for
// a bias: it is stored. Of given ones, and another sum: two products alone read
// the gradient, and each computes it.
constexpr char kLoss[] = R"(HloModule m
add { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] maximum(a, b) }
ENTRY e {
  x = bf16[64,$0] parameter(0)
  w = bf16[$0,384] parameter(1)
  labels = u32[64] parameter(2)
  counts = f32[64] parameter(3)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  scores = bf16[64,384] $1
  wide = f32[64,384] convert(scores)
  most = f32[64] reduce(wide, least), dimensions={1}, to_apply=max
  mb = f32[64,384] broadcast(most), dimensions={0}
  less = f32[64,384] subtract(wide, mb)
  exp = f32[64,384] exponential(less)
  sum = f32[64] reduce(exp, zero), dimensions={1}, to_apply=add
  sb = f32[64,384] broadcast(sum), dimensions={0}
  soft = f32[64,384] divide(exp, sb)
  half = f32[] constant(0)
  hb = f32[64] broadcast(half), dimensions={}
  valid = pred[64] compare(counts, hb), direction=GT
  vb = pred[64,384] broadcast(valid), dimensions={0}
  column = u32[64,384] iota(), iota_dimension=1
  lb = u32[64,384] broadcast(labels), dimensions={0}
  same = pred[64,384] compare(lb, column), direction=EQ
  shown = pred[64,384] and(same, vb)
  one = f32[] constant(1)
  ones = f32[64,384] broadcast(one), dimensions={}
  zeros = f32[64,384] broadcast(zero), dimensions={}
  hot = f32[64,384] select(shown, ones, zeros)
  d = f32[64,384] subtract(soft, hot)
  db = bf16[64,384] convert(d)
  dw32 = f32[64,384] $2
  bias = f32[384] reduce(dw32, zero), dimensions={0}, to_apply=add
  dx = bf16[64,$0] dot(db, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dw = bf16[$0,384] dot(x, db), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = (f32[384], bf16[64,$0], bf16[$0,384]) tuple(bias, dx, dw)
})";

std::string LossText(int width, bool given) {
  return absl::Substitute(
      kLoss, width,
      given ? "parameter(4)"
            : "dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      given ? "abs(hot)" : "convert(db)");
}

class LossGradient
    : public ::testing::TestWithParam<std::tuple<std::string, int, bool>> {};

TEST_P(LossGradient, EqualsTheEvaluator) {
  const auto& [chip, width, given] = GetParam();
  ASSERT_OK_AND_ASSIGN(const CompiledProgram p,
                       CompileText(LossText(width, given), chip));
  sim::ProgramData data(p.program, p.slice);
  std::vector<hlo::Literal> arguments;
  for (size_t k = 0; k < p.program.parameters.size(); ++k) {
    const hlo::Shape& shape =
        p.source->entry()->parameter(static_cast<int>(k))->shape();
    const double most = k == 2 ? 383 : k == 1 ? 0.25 : 1;
    arguments.push_back(
        lowering::RandomLiteral(shape, k + 1, k == 2 ? 0 : -most, most));
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
            want, hlo::Literal::FromBytes(want.shape(), bytes), 0.03, 0.03),
        "")
        << "output " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, LossGradient,
                         ::testing::Combine(::testing::ValuesIn(AllChips()),
                                            ::testing::Values(128, 1024),
                                            ::testing::Bool()));

}  // namespace
}  // namespace ptxla::testing
