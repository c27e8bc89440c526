// Grouped products (ragged-dot): do the kernels compute what the instruction
// means, whatever the sizes of the groups, and do the fidelities agree?
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

enum class Form { kForward, kTransposed, kWeights };

struct Shape {
  int64_t rows, k, n;
  std::vector<int64_t> sizes;
};

std::string Text(Form form, const Shape& s, const std::string& type,
                 const std::string& result = "f32") {
  const auto groups = static_cast<int64_t>(s.sizes.size());
  std::string rhs, out, attributes;
  switch (form) {
    case Form::kForward:
      rhs = absl::StrCat(groups, ",", s.k, ",", s.n);
      out = absl::StrCat(s.rows, ",", s.n);
      attributes =
          "lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
          "lhs_ragged_dims={0}, rhs_group_dims={0}";
      break;
    case Form::kTransposed:
      rhs = absl::StrCat(groups, ",", s.n, ",", s.k);
      out = absl::StrCat(s.rows, ",", s.n);
      attributes =
          "lhs_contracting_dims={1}, rhs_contracting_dims={2}, "
          "lhs_ragged_dims={0}, rhs_group_dims={0}";
      break;
    case Form::kWeights:
      rhs = absl::StrCat(s.rows, ",", s.n);
      out = absl::StrCat(groups, ",", s.k, ",", s.n);
      attributes =
          "lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
          "lhs_ragged_dims={0}";
      break;
  }
  return absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[$1,$2] parameter(0)
  w = $0[$3] parameter(1)
  s = s32[$4] parameter(2)
  ROOT r = $7[$5] ragged-dot(x, w, s), $6
})",
                          type, s.rows, s.k, rhs, groups, out, attributes,
                          result);
}

// "" or the first differences between bundles on data and the evaluator.
std::string Compare(const CompiledProgram& p, const Shape& s) {
  sim::ProgramData data(p.program, p.slice);
  std::vector<hlo::Literal> arguments;
  for (size_t k = 0; k < p.program.parameters.size(); ++k) {
    const hlo::Shape& shape =
        p.source->entry()->parameter(static_cast<int>(k))->shape();
    arguments.push_back(lowering::RandomLiteral(shape, k + 1, -1, 1));
    const auto bytes = arguments.back().mutable_bytes();
    if (k == 2) {
      auto* sizes = reinterpret_cast<int32_t*>(bytes.data());
      std::copy(s.sizes.begin(), s.sizes.end(), sizes);
    }
    EXPECT_OK(data.SetParameter(
        k, absl::MakeSpan(reinterpret_cast<const uint8_t*>(bytes.data()),
                          bytes.size())));
  }
  sim::SimOptions options;
  options.fidelity = Fidelity::kBundle;
  options.data = &data;
  EXPECT_OK(sim::Simulate(p.program, p.slice, options).status());
  hlo::EvaluatorOptions tpu;
  tpu.tpu_mode = true;
  tpu.tpu_generation = std::max(2, p.slice.chip.generation());
  const auto expected = hlo::Evaluate(*p.source, arguments, tpu);
  EXPECT_OK(expected.status());
  const auto bytes = data.Output(0);
  EXPECT_OK(bytes.status());
  if (!expected.ok() || !bytes.ok()) return "failed";
  const hlo::Literal& want =
      expected->shape().IsTuple() ? expected->elements()[0] : *expected;
  return lowering::Differences(
      want, hlo::Literal::FromBytes(want.shape(), *bytes), 0.02, 0.02);
}

chips::Slice WithDense(const std::string& topology, int forms) {
  const chips::Slice slice = *chips::ParseSlice(topology);
  return SliceWith(topology,
                   *slice.chip.WithValue("policy.ragged_dot_dense", forms));
}

// Empty groups in front, inside and behind; bounds inside and between row
// tiles; rows behind all groups; sizes that say more than there is.
const std::vector<Shape>& Shapes() {
  static const auto& shapes = *new std::vector<Shape>{
      {256, 128, 128, {128, 128}},
      {200, 130, 140, {0, 70, 0, 90, 0}},
      {384, 200, 300, {1, 127, 129, 3, 100}},
      {40, 64, 64, {300, 5}},
      {300, 256, 128, {0, 0, 0}},
      {129, 127, 19, {48, 1, 80}},
  };
  return shapes;
}

class GroupedProduct : public ::testing::TestWithParam<std::string> {};

TEST_P(GroupedProduct, EqualsTheEvaluatorForAnySizes) {
  for (const Shape& s : Shapes()) {
    for (const Form form :
         {Form::kForward, Form::kTransposed, Form::kWeights}) {
      for (const char* type : {"bf16", "f32"}) {
        const std::string text = Text(form, s, type);
        SCOPED_TRACE(text);
        const absl::StatusOr<CompiledProgram> compiled =
            CompileText(text, GetParam());
        // Weights whose transposition has no kernel (matrices of odd sizes).
        if (form == Form::kTransposed && s.k % 128 != 0 &&
            absl::IsResourceExhausted(compiled.status())) {
          continue;
        }
        ASSERT_OK(compiled.status());
        const CompiledProgram& p = *compiled;
        EXPECT_EQ(Compare(p, s), "");
        const auto tile = static_cast<double>(Cycles(p, Fidelity::kTile));
        EXPECT_NEAR(static_cast<double>(Cycles(p, Fidelity::kKernel)), tile,
                    0.01 * tile);
      }
    }
  }
}

// A row tile of bf16 results has rows of several groups in one register.
TEST_P(GroupedProduct, RoundsItsResultsInTheSteps) {
  if (!chips::ParseSlice(GetParam())->chip.Policy("ragged_dot_dense")) {
    GTEST_SKIP() << "a chip without the policy";
  }
  const chips::Slice grouped = WithDense(GetParam(), 0);
  for (const Shape& s : Shapes()) {
    for (const char* result : {"bf16", "f16"}) {
      const std::string text = Text(Form::kForward, s, "bf16", result);
      SCOPED_TRACE(text);
      ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(text, grouped));
      EXPECT_EQ(Compare(p, s), "");
    }
  }
}

TEST_P(GroupedProduct, RunsDenseWhereThePolicySaysSo) {
  if (!chips::ParseSlice(GetParam())->chip.Policy("ragged_dot_dense")) {
    GTEST_SKIP() << "a chip without the policy";
  }
  const chips::Slice dense = WithDense(GetParam(), 7);
  const chips::Slice grouped = WithDense(GetParam(), 0);
  for (const Shape& s : Shapes()) {
    for (const Form form : {Form::kForward, Form::kWeights}) {
      const std::string text = Text(form, s, "bf16");
      SCOPED_TRACE(text);
      ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(text, dense));
      EXPECT_EQ(Compare(p, s), "");
      // Which steps there are no longer depends on data.
      EXPECT_EQ(Cycles(p, Fidelity::kBundle), Cycles(p, Fidelity::kTile));
    }
  }
  const std::string many = Text(
      Form::kForward, {1024, 512, 512, std::vector<int64_t>(16, 64)}, "bf16");
  ASSERT_OK_AND_ASSIGN(const CompiledProgram all, CompileText(many, dense));
  ASSERT_OK_AND_ASSIGN(const CompiledProgram own, CompileText(many, grouped));
  EXPECT_GT(Cycles(all, Fidelity::kKernel), 2 * Cycles(own, Fidelity::kKernel));
}

INSTANTIATE_TEST_SUITE_P(Chips, GroupedProduct,
                         ::testing::ValuesIn(AllChips()));

}  // namespace
}  // namespace ptxla::testing
