// Are the lazy graphs of whole training steps what they say: shapes with
// layouts as lowered, text that reads back, HLO that verifies?
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "lazy/check_node.h"
#include "lazy/graph_text.h"
#include "tests/support/status_matchers.h"
#include "tests/workloads/recording_executor.h"
#include "workloads/catalog.h"

namespace ptxla::workloads {
namespace {

// Steps twice, then hands over the graph of the third step.
class GraphExecutor : public RecordingExecutor {
 public:
  absl::Status Sync(lazy::Device* device) override {
    if (++steps_ < 3) return RecordingExecutor::Sync(device);
    sync = lazy::CollectSync(device);
    return absl::OkStatus();
  }
  lazy::SyncGraph sync;

 private:
  int steps_ = 0;
};

struct Case {
  const char* workload;
  int64_t replicas;
};

class LazyGraphTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec,
                         FindWorkload(GetParam().workload));
    ASSERT_OK_AND_ASSIGN(workload_,
                         MakeWorkload(spec, &device_, {GetParam().replicas}));
    for (int step = 0; step < 3; ++step) {
      ASSERT_THAT(workload_->Step(), testing::IsOk());
    }
  }
  const lazy::Graph& graph() const { return executor_.sync.graph; }

  void TearDown() override { executor_.sync = lazy::SyncGraph(); }

  GraphExecutor executor_;
  lazy::Device device_{&executor_};
  std::unique_ptr<Workload> workload_;
};

// With replicas the results of a pinned all-reduce are row-major in HLO and not
// in the IR, in PyTorch/XLA as well.
class OneReplicaGraphTest : public LazyGraphTest {};

TEST_P(OneReplicaGraphTest, EveryNodeHasTheShapeAndLayoutOfItsHlo) {
  std::vector<lazy::Value> everything;
  for (const lazy::Node* node : graph().nodes) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      everything.push_back({lazy::NodePtr(node), i});
    }
  }
  ASSERT_OK_AND_ASSIGN(
      const auto module,
      lazy::LowerToHlo(lazy::MakeGraph(everything), lazy::DumpForm()));
  const hlo::Instruction* root = module->entry()->root();
  for (size_t i = 0; i < everything.size(); ++i) {
    EXPECT_EQ(everything[i].shape().ToString(),
              root->operand(static_cast<int>(i))->shape().ToStringWithLayout())
        << root->operand(static_cast<int>(i))->ToString();
  }
}

TEST_P(LazyGraphTest, EveryNodeKeepsTheRulesOfItsOperation) {
  for (const lazy::Node* node : graph().nodes) {
    EXPECT_THAT(lazy::CheckNode(*node), testing::IsOk());
  }
}

TEST_P(LazyGraphTest, TheTextReadsBackTheSame) {
  const std::string text = lazy::PrintGraph(graph());
  ASSERT_OK_AND_ASSIGN(const lazy::ParsedGraph parsed, lazy::ParseGraph(text));
  EXPECT_EQ(lazy::PrintGraph(parsed.graph), text);
  EXPECT_EQ(lazy::StructureHash(parsed.graph), lazy::StructureHash(graph()));
}

TEST_P(LazyGraphTest, DonorsAreInTheText) {
  const std::string text = lazy::PrintGraph(graph(), executor_.sync.donors);
  ASSERT_OK_AND_ASSIGN(const lazy::ParsedGraph parsed, lazy::ParseGraph(text));
  EXPECT_EQ(lazy::MarkedDonors(parsed.graph), executor_.sync.donors);
  EXPECT_EQ(lazy::PrintGraph(parsed.graph), text);
}

TEST_P(LazyGraphTest, WhatIsReadBackLowersToTheSameHlo) {
  ASSERT_OK_AND_ASSIGN(const auto direct, lazy::LowerToHlo(graph(), {}));
  ASSERT_OK_AND_ASSIGN(const lazy::ParsedGraph parsed,
                       lazy::ParseGraph(lazy::PrintGraph(graph())));
  ASSERT_OK_AND_ASSIGN(const auto again, lazy::LowerToHlo(parsed.graph, {}));
  EXPECT_EQ(hlo::Print(*direct), hlo::Print(*again));
}

TEST_P(LazyGraphTest, TheHloVerifies) {
  lazy::LoweringOptions options;
  options.donors = executor_.sync.donors;
  options.replica_count = 4;
  ASSERT_OK_AND_ASSIGN(const auto module, lazy::LowerToHlo(graph(), options));
  EXPECT_THAT(hlo::VerifyModule(*module), testing::IsOk());
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  return absl::StrCat(info.param.workload, "_", info.param.replicas);
}
INSTANTIATE_TEST_SUITE_P(Workloads, OneReplicaGraphTest,
                         ::testing::Values(Case{"mlp", 1}, Case{"bert_2l", 1}),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Workloads, LazyGraphTest,
                         ::testing::Values(Case{"mlp", 1}, Case{"mlp", 4},
                                           Case{"bert_2l", 1},
                                           Case{"bert_2l", 4}),
                         CaseName);

}  // namespace
}  // namespace ptxla::workloads
