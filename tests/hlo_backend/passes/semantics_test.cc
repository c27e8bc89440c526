// What a module computes stays the same under every pass, and under the whole
// pipeline after each of its passes.
#include <cmath>

#include "base/files.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/all_passes.h"
#include "tests/hlo_backend/passes/random_module.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// The largest difference of an array, in units of its largest element.
double Difference(const Literal& a, const Literal& b) {
  if (a.IsTuple()) {
    double worst = 0;
    for (size_t k = 0; k < a.elements().size(); ++k) {
      worst = std::max(worst, Difference(a.elements()[k], b.elements()[k]));
    }
    return worst;
  }
  if (!a.shape().IsArray()) return 0;
  double largest = 1e-6, difference = 0;
  for (int64_t i = 0; i < a.ElementCount(); ++i) {
    const double x = a.GetDouble(i), y = b.GetDouble(i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return INFINITY;
    largest = std::max(largest, std::fabs(x));
    difference = std::max(difference, std::fabs(x - y));
  }
  return difference / largest;
}

void ExpectLegalFusions(const Module& module) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kFusion) continue;
      EXPECT_OK(CheckFusion(*i));
    }
  }
}

chips::ChipSpec V5e() { return *chips::ChipSpec::Load("v5e"); }

// Rounds what the arrays would round: exact as the TPU computes, which is what
// its own test below looks at.
constexpr char kRounds[] = "bf16-propagation";

class RandomModuleTest : public ::testing::TestWithParam<int> {};

TEST_P(RandomModuleTest, EveryPassAloneKeepsTheNumbers) {
  const chips::ChipSpec chip = V5e();
  for (const PassEntry& entry : AllPasses()) {
    if (entry.name == kRounds) continue;
    auto module = RandomModule(GetParam());
    const std::vector<Literal> inputs = RandomArguments(*module, 7);
    ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, inputs));
    ASSERT_OK_AND_ASSIGN(Pipeline p,
                         Pipeline::FromNames(std::string(entry.name)));
    PassContext context;
    context.chip = &chip;
    PipelineOptions options;
    options.verify = true;
    ASSERT_OK(p.Run(module.get(), context, options).status());
    ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, inputs));
    EXPECT_LT(Difference(expected, actual), 1e-5) << entry.name << "\n"
                                                  << Print(*module);
  }
}

TEST_P(RandomModuleTest, ThePipelineKeepsTheNumbersAfterEachPass) {
  const chips::ChipSpec chip = V5e();
  auto module = RandomModule(GetParam());
  const std::vector<Literal> inputs = RandomArguments(*module, 7);
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, inputs));
  CompileOptions options;
  options.pipeline.verify = true;
  options.pipeline.disabled = {kRounds};
  options.pipeline.dump = [&](int, const std::string& name, const Module& m) {
    auto actual = Evaluate(m, inputs);
    if (!actual.ok()) return actual.status();
    EXPECT_LT(Difference(expected, *actual), 1e-5) << "after " << name;
    return absl::OkStatus();
  };
  ASSERT_OK(RunPasses(module.get(), chip, options).status());
  ExpectLegalFusions(*module);
}

TEST_P(RandomModuleTest, WhatProductsRoundMayBeRoundedBefore) {
  const chips::ChipSpec chip = V5e();
  auto module = RandomModule(GetParam());
  const std::vector<Literal> inputs = RandomArguments(*module, 7);
  EvaluatorOptions tpu;
  tpu.tpu_mode = true;
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, inputs, tpu));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames(kRounds));
  PassContext context;
  context.chip = &chip;
  ASSERT_OK(p.Run(module.get(), context).status());
  ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, inputs, tpu));
  EXPECT_EQ(Difference(expected, actual), 0);
}

TEST_P(RandomModuleTest, TheSameModuleGivesTheSameText) {
  const chips::ChipSpec chip = V5e();
  std::string texts[2];
  for (std::string& text : texts) {
    auto module = RandomModule(GetParam());
    ASSERT_OK(RunPasses(module.get(), chip).status());
    text = Print(*module);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomModuleTest, ::testing::Range(0, 40));

// Programs of others, scaled to what the evaluator does in a second.
class ProgramTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramTest, ThePipelineKeepsTheNumbers) {
  const auto path = ::ptxla::testing::SharedPath("hlo_corpus/" + GetParam());
  if (!path.ok()) GTEST_SKIP() << path.status();
  auto text = ReadFile(*path);
  ASSERT_OK(text.status());
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(*text, GetParam()));
  const std::vector<Literal> inputs = RandomArguments(*module, 3);
  EvaluatorOptions evaluator;
  evaluator.elided = EvaluatorOptions::Elided::kIota;
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, inputs, evaluator));
  CompileOptions options;
  options.pipeline.verify = true;
  options.pipeline.disabled = {kRounds};
  ASSERT_OK(RunPasses(module.get(), V5e(), options).status());
  ExpectLegalFusions(*module);
  ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, inputs, evaluator));
  // bf16 values may keep more bits than the program says.
  EXPECT_LT(Difference(expected, actual), 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, ProgramTest,
    ::testing::Values("openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
                      "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
                      "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
                      "torch_xla_2_9/programs/mlp_mnist_train.hlo"));

}  // namespace
}  // namespace ptxla::hlo
