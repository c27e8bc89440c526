// Do our training steps lower to the very programs of PyTorch/XLA 2.9?
#include <set>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/device.h"
#include "lazy/lowering.h"
#include "tests/support/hlo_reference.h"
#include "tests/support/status_matchers.h"
#include "tests/workloads/recording_executor.h"
#include "workloads/catalog.h"

namespace ptxla::workloads {
namespace {

using ::testing::IsEmpty;

// The lines of the file that are no comment, without the cause behind them.
std::set<std::string> KnownDifferences(const std::string& file) {
  std::set<std::string> known;
  const auto text =
      ReadFile(absl::StrCat(PTXLA_SOURCE_DIR, "/tests/workloads/", file));
  EXPECT_THAT(text, testing::IsOk());
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, "  #");
    if (!parts[0].empty() && parts[0][0] != '#') known.insert(parts[0]);
  }
  return known;
}

// Steps until the optimizer has its state and every parameter was updated once.
std::unique_ptr<hlo::Module> SteadyModule(const WorkloadSpec& spec) {
  RecordingExecutor executor;
  lazy::Device device(&executor);
  auto workload = MakeWorkload(spec, &device);
  EXPECT_THAT(workload, testing::IsOk());
  for (int step = 0; step < 3; ++step) {
    EXPECT_THAT((*workload)->Step(), testing::IsOk());
  }
  return std::move(executor.last_module);
}

TEST(ReferenceTest, TheTwoLayerBertStepIsTheirs) {
  if (!testing::HasReferences()) GTEST_SKIP() << "no reference files";
  ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec, FindWorkload("bert_2l"));
  const auto ours = SteadyModule(spec);
  ASSERT_OK_AND_ASSIGN(const auto theirs,
                       testing::ReadReference("programs/bert_2l_train.hlo"));
  EXPECT_EQ(ours->instruction_count(), theirs->instruction_count());
  EXPECT_EQ(ours->name(), theirs->name());
  const std::set<std::string> known =
      KnownDifferences("bert_2l_differences.txt");
  for (const std::string& difference : testing::Differences(*theirs, *ours)) {
    EXPECT_TRUE(known.count(difference)) << difference;
  }
}

TEST(ReferenceTest, TheMlpStepIsTheirs) {
  if (!testing::HasReferences()) GTEST_SKIP() << "no reference files";
  ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec, FindWorkload("mlp"));
  const auto ours = SteadyModule(spec);
  ASSERT_OK_AND_ASSIGN(const auto theirs,
                       testing::ReadReference("programs/mlp_mnist_train.hlo"));
  EXPECT_THAT(testing::Differences(*theirs, *ours), IsEmpty());
}

TEST(ReferenceTest, TheTwoLayerBertForwardPassIsTheirs) {
  if (!testing::HasReferences()) GTEST_SKIP() << "no reference files";
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("bert_2l"));
  ASSERT_THAT(SetField("phase=prefill", &spec), testing::IsOk());
  const auto ours = SteadyModule(spec);
  ASSERT_OK_AND_ASSIGN(const auto theirs,
                       testing::ReadReference("programs/bert_2l_infer.hlo"));
  EXPECT_THAT(testing::Differences(*theirs, *ours), IsEmpty());
}

TEST(ReferenceTest, WhatIsCompiledHasRowMajorResultsAndDonors) {
  if (!testing::HasReferences()) GTEST_SKIP() << "no reference files";
  ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec, FindWorkload("mlp"));
  RecordingExecutor executor;
  executor.options = lazy::LoweringOptions();
  lazy::Device device(&executor);
  ASSERT_OK_AND_ASSIGN(const auto workload, MakeWorkload(spec, &device));
  for (int step = 0; step < 3; ++step) {
    ASSERT_THAT(workload->Step(), testing::IsOk());
  }
  ASSERT_OK_AND_ASSIGN(
      const auto theirs,
      testing::ReadReference(
          "side/mlp_mnist_train.compiled_before_optimizations.hlo"));
  const hlo::ModuleConfig& ours = executor.last_module->config();
  ASSERT_EQ(ours.buffer_donors.size(), theirs->config().buffer_donors.size());
  for (size_t i = 0; i < ours.buffer_donors.size(); ++i) {
    EXPECT_EQ(ours.buffer_donors[i].parameter,
              theirs->config().buffer_donors[i].parameter);
  }
  ASSERT_TRUE(ours.entry_layout && theirs->config().entry_layout);
  EXPECT_EQ(ours.entry_layout->result.ToStringWithLayout(),
            theirs->config().entry_layout->result.ToStringWithLayout());
}

}  // namespace
}  // namespace ptxla::workloads
