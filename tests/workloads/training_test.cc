// Does a workload step as PyTorch/XLA counts it, at the size it says?
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/device.h"
#include "tests/support/status_matchers.h"
#include "tests/workloads/recording_executor.h"
#include "workloads/catalog.h"

namespace ptxla::workloads {
namespace {

using ::testing::ElementsAre;

// 2 x multiply-adds of all dots of the entry.
double DotFlops(const hlo::Module& module) {
  double flops = 0;
  for (const hlo::Instruction* i : module.entry()->instructions()) {
    if (i->opcode() != hlo::Opcode::kDot) continue;
    const int64_t k = i->attrs<hlo::DotAttrs>().lhs_contracting[0];
    flops += 2.0 * static_cast<double>(i->shape().ElementCount()) *
             static_cast<double>(i->operand(0)->shape().dim(k));
  }
  return flops;
}

int CountOpcode(const hlo::Module& module, hlo::Opcode opcode) {
  int n = 0;
  for (const hlo::Instruction* i : module.entry()->instructions()) {
    n += i->opcode() == opcode;
  }
  return n;
}

struct TracedRun {
  RecordingExecutor executor;
  lazy::Device device{&executor};
  std::unique_ptr<Workload> workload;

  TracedRun(const std::string& name, ParallelOptions parallel = {}) {
    auto spec = FindWorkload(name);
    EXPECT_THAT(spec, testing::IsOk());
    auto made = MakeWorkload(*spec, &device, parallel);
    EXPECT_THAT(made, testing::IsOk());
    workload = std::move(*made);
  }
  void Step(int steps) {
    for (int i = 0; i < steps; ++i) {
      ASSERT_THAT(workload->Step(), testing::IsOk());
    }
  }
};

TEST(TrainingTest, TenAdamWStepsAreTwoPrograms) {
  TracedRun run("bert_2l");
  run.Step(10);
  EXPECT_EQ(run.executor.compiles, 2) << "the first step makes the moments";
}

TEST(TrainingTest, GraphSizesAndDonorsAreThoseOfTheMetricsReport) {
  // TensorsGraphSize and InputOutputAliasCount of PyTorch/XLA's own runs.
  TracedRun bert("bert_2l");
  bert.Step(3);
  EXPECT_THAT(bert.executor.graph_sizes, ElementsAre(1846, 1754, 1754));
  EXPECT_THAT(bert.executor.donor_counts, ElementsAre(46, 138, 138));
  TracedRun mlp("mlp");
  mlp.Step(3);
  EXPECT_THAT(mlp.executor.graph_sizes, ElementsAre(81, 113, 113));
}

TEST(TrainingTest, AChangedLearningRateCompilesNothing) {
  TracedRun run("bert_2l");
  run.Step(2);
  const int compiles = run.executor.compiles;
  run.workload->set_learning_rate(3e-5);
  run.Step(1);
  run.workload->set_learning_rate(7e-6);
  run.Step(1);
  EXPECT_EQ(run.executor.compiles, compiles);
}

TEST(TrainingTest, ManyLearningRatesCompileNothing) {
  TracedRun run("mlp");
  run.Step(2);
  const int compiles = run.executor.compiles;
  for (int i = 1; i < 300; ++i) {
    run.workload->set_learning_rate(0.1 / (i + 1));
    run.Step(1);
  }
  EXPECT_EQ(run.executor.compiles, compiles);
}

TEST(TrainingTest, BertLargeHasTheParametersAndFlopsOfItsFormula) {
  TracedRun run("bert", {8});
  const WorkloadFacts& facts = run.workload->facts();
  EXPECT_EQ(facts.parameters, 336226108);
  EXPECT_EQ(facts.samples, 32);
  EXPECT_EQ(facts.tokens, 32 * 128);
  EXPECT_NEAR(facts.model_flops, 8.370e12, 0.001e12);
  run.Step(2);
  EXPECT_NEAR(DotFlops(*run.executor.last_module) / facts.model_flops, 1,
              0.005);
  EXPECT_THAT(run.executor.graph_sizes[1],
              ::testing::AllOf(::testing::Gt(15130), ::testing::Lt(15140)))
      << "15130 without the all-reduce";
}

TEST(TrainingTest, BertLargeOnOneChipIsAsLargeAsTheRealOne) {
  // Counts of the step that PyTorch/XLA 2.9 traces from Hugging Face's model.
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("bert"));
  ASSERT_THAT(SetField("batch_per_chip=32", &spec), testing::IsOk());
  RecordingExecutor executor;
  lazy::Device device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
  for (int step = 0; step < 2; ++step) {
    ASSERT_THAT(workload->Step(), testing::IsOk());
  }
  const hlo::Module& module = *executor.last_module;
  EXPECT_EQ(executor.graph_sizes[1], 15130);
  EXPECT_EQ(module.instruction_count(), 26683);
  EXPECT_EQ(module.entry()->parameter_count(), 1215);
  EXPECT_EQ(module.entry()->root()->operand_count(), 1693);
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kDot), 588);
}

TEST(TrainingTest, ResnetHasTheParametersAndFlopsOfTorchvisions) {
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("resnet50"));
  ASSERT_THAT(SetField("batch_per_chip=8", &spec), testing::IsOk());
  RecordingExecutor executor;
  lazy::Device device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
  const WorkloadFacts& facts = workload->facts();
  EXPECT_EQ(facts.parameters, 25557032);
  EXPECT_EQ(facts.samples, 8);
  // torchvision's table: 4.09 G multiply-adds; the stem has 0.118 G of them.
  EXPECT_NEAR(facts.model_flops / 8, 2 * (3 * 4.089e9 - 0.118e9), 0.01e9);
  for (int step = 0; step < 3; ++step) {
    ASSERT_THAT(workload->Step(), testing::IsOk());
  }
  EXPECT_EQ(executor.compiles, 2) << "the first step makes the momenta";
  const hlo::Module& module = *executor.last_module;
  // 53 forward, two gradients each; the stem's input gradient is in the text.
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kConvolution), 3 * 53);
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kBatchNormTraining), 53);
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kSelectAndScatter), 1);
  // Parameters, momenta and running statistics with their counts are written.
  EXPECT_EQ(executor.donor_counts.back(), 2 * 161 + 3 * 53);
}

TEST(TrainingTest, AForwardPassOfAResnetReadsTheRunningStatistics) {
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("resnet50"));
  ASSERT_THAT(SetField("phase=prefill", &spec), testing::IsOk());
  RecordingExecutor executor;
  lazy::Device device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
  ASSERT_THAT(workload->Step(), testing::IsOk());
  const hlo::Module& module = *executor.last_module;
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kConvolution), 53);
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kBatchNormInference), 53);
  EXPECT_EQ(CountOpcode(module, hlo::Opcode::kBatchNormTraining), 0);
  EXPECT_EQ(module.entry()->root()->operand_count(), 1);
  EXPECT_NEAR(workload->facts().model_flops / 256, 2 * 4.089e9, 0.01e9);
}

TEST(TrainingTest, WithoutAutocastTheBasesOfGradientsAreWrittenToo) {
  // PyTorch/XLA's counts: 185 tensors and 43 bases, where autocast has 12.
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("bert_2l"));
  ASSERT_THAT(SetField("dtype=f32", &spec), testing::IsOk());
  RecordingExecutor executor;
  lazy::Device device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
  for (int step = 0; step < 3; ++step) {
    ASSERT_THAT(workload->Step(), testing::IsOk());
  }
  const hlo::Module& module = *executor.last_module;
  EXPECT_EQ(executor.compiles, 2);
  EXPECT_EQ(executor.graph_sizes[2], 1636);
  EXPECT_EQ(module.instruction_count(), 3128);
  EXPECT_EQ(module.entry()->parameter_count(), 158);
  EXPECT_EQ(module.entry()->root()->operand_count(), 228);
}

TEST(TrainingTest, TheMlpsFlopsAreThoseOfItsDots) {
  TracedRun run("mlp");
  run.Step(2);
  EXPECT_DOUBLE_EQ(DotFlops(*run.executor.last_module),
                   run.workload->facts().model_flops);
  EXPECT_DOUBLE_EQ(run.workload->facts().model_flops, 154075136);
}

TEST(TrainingTest, ReplicasReduceAllGradientsAtOnce) {
  TracedRun run("bert_2l", {8});
  run.Step(2);
  const hlo::Module& module = *run.executor.last_module;
  ASSERT_EQ(CountOpcode(module, hlo::Opcode::kAllReduce), 1);
  for (const hlo::Instruction* i : module.entry()->instructions()) {
    if (i->opcode() != hlo::Opcode::kAllReduce) continue;
    EXPECT_EQ(i->operand_count(), 46 + 1) << "gradients and the token";
    EXPECT_EQ(i->attrs<hlo::CollectiveAttrs>().groups.group_size(0), 8);
    EXPECT_TRUE(i->attrs<hlo::CollectiveAttrs>().constrain_layout);
  }
  EXPECT_EQ(run.executor.compiles, 2);
}

TEST(TrainingTest, OneReplicaReducesNothing) {
  TracedRun run("bert_2l");
  run.Step(2);
  EXPECT_EQ(CountOpcode(*run.executor.last_module, hlo::Opcode::kAllReduce), 0);
}

TEST(TrainingTest, AForwardPassIsOneProgramOfAThirdOfTheFlops) {
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("bert_2l"));
  RecordingExecutor training_executor, executor;
  lazy::Device training_device(&training_executor), device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto training,
                       MakeWorkload(spec, &training_device));
  ASSERT_THAT(SetField("phase=prefill", &spec), testing::IsOk());
  ASSERT_OK_AND_ASSIGN(const auto prefill, MakeWorkload(spec, &device));
  for (int step = 0; step < 3; ++step) {
    ASSERT_THAT(prefill->Step(), testing::IsOk());
  }
  EXPECT_EQ(executor.compiles, 1);
  EXPECT_DOUBLE_EQ(prefill->facts().model_flops,
                   training->facts().model_flops / 3);
  EXPECT_DOUBLE_EQ(DotFlops(*executor.last_module),
                   prefill->facts().model_flops);
  EXPECT_FALSE(prefill->loss().defined());
}

TEST(TrainingTest, AnotherBatchSizeIsAnotherProgram) {
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("mlp"));
  RecordingExecutor executor;
  std::set<uint64_t> seen;
  for (const char* batch : {"batch_per_chip=64", "batch_per_chip=32"}) {
    ASSERT_THAT(SetField(batch, &spec), testing::IsOk());
    lazy::Device device(&executor);
    ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
    ASSERT_THAT(workload->Step(), testing::IsOk());
  }
  EXPECT_EQ(executor.compiles, 2);
}

TEST(TrainingTest, AnUnevenGlobalBatchIsRefused) {
  ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec, FindWorkload("bert"));
  lazy::Device device;
  EXPECT_THAT(MakeWorkload(spec, &device, {7}),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                ::testing::HasSubstr("256")));
}

}  // namespace
}  // namespace ptxla::workloads
