#include "runtime/tpu_executor.h"

#include "hlo_backend/ir/verifier.h"
#include "tests/runtime/training_loop.h"
#include "tests/support/status_matchers.h"

namespace ptxla::runtime {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;
using testing::TrainingLoop;

class TpuExecutorTest : public ::testing::Test {
 protected:
  TpuExecutorTest()
      : costs_(HostCosts::For(chips::ChipSpec::Load("v5e").value()).value()),
        executor_(costs_, [this](std::unique_ptr<hlo::Module> module,
                                 const GraphInfo& info) {
          return Compile(std::move(module), info);
        }) {}

  // Programs of 1 ms that took 2 s to compile.
  absl::StatusOr<Executable> Compile(std::unique_ptr<hlo::Module> module,
                                     const GraphInfo& info) {
    RETURN_IF_ERROR(hlo::VerifyModule(*module));
    donors_.push_back(module->config().buffer_donors.size());
    parameters_.push_back(module->entry()->parameter_count());
    EXPECT_EQ(info.parameter_labels.size(), module->entry()->parameter_count());
    return Executable{module->name(), static_cast<int>(donors_.size()) - 1,
                      FromSeconds(1e-3), FromSeconds(2)};
  }

  int64_t Lazy(const char* counter) {
    return executor_.metrics().lazy.Counter(counter);
  }

  HostCosts costs_;
  std::vector<size_t> donors_;
  std::vector<int> parameters_;
  TpuExecutor executor_;
};

// Step 1 makes the moments, so step 2 is another graph; from then on all hit.
TEST_F(TpuExecutorTest, TenAdamWStepsCompileTwice) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 10; ++i) ASSERT_OK(loop.Step());
  EXPECT_EQ(Lazy("UncachedCompile"), 2);
  EXPECT_EQ(Lazy("CachedCompile"), 8);
  EXPECT_EQ(Lazy("ExecuteComputation"), 10);
  EXPECT_EQ(executor_.metrics().runtime.Counter("MarkStep"), 10);
  EXPECT_THAT(executor_.metrics().runtime.Report(),
              HasSubstr("Metric: CompileTime\n  TotalSamples: 2\n"));
}

TEST_F(TpuExecutorTest, AChangedLearningRateCompilesNothing) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 6; ++i) {
    loop.optimizer()->set_learning_rate(1e-2 / (i + 1));
    ASSERT_OK(loop.Step());
  }
  EXPECT_EQ(Lazy("UncachedCompile"), 2);
}

TEST_F(TpuExecutorTest, AnotherBatchSizeCompilesAndTheOldOneHitsAgain) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 3; ++i) ASSERT_OK(loop.Step());
  loop.SetBatch(6);
  ASSERT_OK(loop.Step());
  EXPECT_EQ(Lazy("UncachedCompile"), 3);
  loop.SetBatch(8);
  ASSERT_OK(loop.Step());
  EXPECT_EQ(Lazy("UncachedCompile"), 3);
}

TEST_F(TpuExecutorTest, UpdatedParametersAndMomentsAreDonated) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 3; ++i) ASSERT_OK(loop.Step());
  ASSERT_EQ(donors_.size(), 2);
  EXPECT_EQ(donors_[0], 4);   // two layers with weight and bias
  EXPECT_EQ(donors_[1], 12);  // and two moments of each
}

TEST_F(TpuExecutorTest, DropoutDoesNotRecompile) {
  TrainingLoop loop(&executor_, 8, /*dropout=*/0.2);
  for (int i = 0; i < 5; ++i) ASSERT_OK(loop.Step());
  EXPECT_EQ(Lazy("UncachedCompile"), 2);
}

TEST_F(TpuExecutorTest, CompilingKeepsTheTracingThread) {
  TrainingLoop loop(&executor_, 8);
  ASSERT_OK(loop.Step());
  EXPECT_GE(executor_.steps()[0].record.end_ps(), FromSeconds(2).count());
  EXPECT_EQ(executor_.steps()[0].record.compile_ps(), FromSeconds(2).count());
  EXPECT_FALSE(executor_.steps()[0].record.cached());
}

TEST_F(TpuExecutorTest, StepsFollowOneAnotherOnTheTracingThread) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 4; ++i) ASSERT_OK(loop.Step());
  for (int i = 1; i < 4; ++i) {
    const record::StepRecord& s = executor_.steps()[i].record;
    EXPECT_EQ(s.begin_ps(), executor_.steps()[i - 1].record.end_ps());
    EXPECT_EQ(s.index(), i);
  }
  // The loop is tracing bound: some 100 calls of 20 us against 1 ms.
  const SteadyStep steady = SteadyState(executor_.steps()[3].log, costs_);
  EXPECT_EQ(steady.period, steady.device + steady.host + steady.input);
  EXPECT_EQ(steady.device, FromSeconds(1e-3));
  EXPECT_GT(steady.host, Picoseconds(0));
}

TEST_F(TpuExecutorTest, TwoBarriersInARowExecuteOnce) {
  TrainingLoop loop(&executor_, 8);
  ASSERT_OK(loop.Step());
  ASSERT_OK(loop.device()->Sync());
  EXPECT_EQ(Lazy("ExecuteComputation"), 1);
  EXPECT_EQ(executor_.metrics().runtime.Counter("MarkStep"), 2);
}

// Reading a pending value runs its graph alone and cuts nothing: the barrier
// runs the same nodes again.
TEST_F(TpuExecutorTest, ReadingBeforeTheBarrierRunsTheSubgraphTwice) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 3; ++i) ASSERT_OK(loop.Step());
  const int64_t before = Lazy("ExecuteComputation");
  const lazy::Tensor loss = loop.Trace();
  EXPECT_THAT(loop.device()->Read(loss.lazy().get()).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("clocks, not numbers")));
  ASSERT_OK(loop.device()->Sync());
  EXPECT_EQ(Lazy("ExecuteComputation"), before + 2);
  EXPECT_EQ(Lazy("UncachedCompile"), 3);
  EXPECT_EQ(donors_.back(), 0) << "a read donates nothing";
}

TEST_F(TpuExecutorTest, AReadMakesHostAndDeviceAdd) {
  TrainingLoop loop(&executor_, 8);
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(loop.Step());
    loop.device()->Read(loop.loss().lazy().get()).status().IgnoreError();
  }
  // The read after a barrier belongs to the next step's log.
  ASSERT_OK(loop.Step());
  const SteadyStep steady = SteadyState(executor_.steps()[4].log, costs_);
  EXPECT_GE(steady.host,
            executor_.steps()[4].record.trace_ps() == 0
                ? Picoseconds(1)
                : Picoseconds(executor_.steps()[4].record.trace_ps()));
}

}  // namespace
}  // namespace ptxla::runtime
