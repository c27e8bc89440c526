// From a workload's name to a record and its dumps.
#include <filesystem>

#include "absl/strings/match.h"
#include "base/files.h"
#include "driver/prediction.h"
#include "driver/transform.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

// A perceptron small enough for a unit test.
RunRequest Request(const std::string& topology) {
  RunRequest r;
  r.workload = "mlp";
  r.topology = topology;
  r.settings = {"widths=32,16,10", "batch_per_chip=8"};
  r.estimate_unknown_ops = true;
  r.assumed_effects = false;
  r.prove = true;
  return r;
}

int64_t Sum(const record::BoundTimes& b) {
  return b.mxu_ps() + b.vpu_ps() + b.hbm_ps() + b.ici_ps() + b.dcn_ps() +
         b.host_ps() + b.input_ps() + b.overhead_ps();
}

TEST(WorkloadRunTest, EveryPicosecondOfTheStepBelongsToOneBound) {
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(Request("v5e-1")));
  EXPECT_EQ(Sum(p.record.time_by_bound()), p.record.step_time().value_ps());
  EXPECT_GT(p.record.time_by_bound().host_ps(), 0)
      << "so small a model is bound by tracing";
}

TEST(WorkloadRunTest, TheThirdStepHitsTheCache) {
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(Request("v5e-1")));
  ASSERT_EQ(p.record.steps_size(), 3);
  EXPECT_FALSE(p.record.steps(0).cached());
  EXPECT_FALSE(p.record.steps(1).cached());
  EXPECT_TRUE(p.record.steps(2).cached());
  EXPECT_EQ(p.record.first_steps().compiles(), 2);
  EXPECT_THAT(p.record.metrics_report(),
              HasSubstr("Counter: UncachedCompile\n  Value: 2\n"));
  EXPECT_THAT(p.record.metrics_report(),
              HasSubstr("Counter: MarkStep\n  Value: 3\n"));
}

TEST(WorkloadRunTest, MoreStepsGiveTheSameSteadyState) {
  RunRequest request = Request("v5e-1");
  ASSERT_OK_AND_ASSIGN(const Prediction three, Predict(request));
  request.steps = 6;
  ASSERT_OK_AND_ASSIGN(const Prediction six, Predict(request));
  EXPECT_EQ(three.record.step_time().value_ps(),
            six.record.step_time().value_ps());
}

TEST(WorkloadRunTest, GradientsAreReducedOnlyAcrossChips) {
  ASSERT_OK_AND_ASSIGN(const Prediction one, Predict(Request("v5e-1")));
  ASSERT_OK_AND_ASSIGN(const Prediction eight, Predict(Request("v5e-8")));
  EXPECT_EQ(one.record.time_by_bound().ici_ps(), 0);
  EXPECT_GT(eight.record.time_by_bound().ici_ps(), 0);
  EXPECT_EQ(eight.record.config().global_batch(),
            8 * one.record.config().global_batch());
}

TEST(WorkloadRunTest, SettingsReachTheModelAndWrongOnesAreNamed) {
  RunRequest request = Request("v5e-1");
  request.settings = {"widths=784,64,10", "batch_per_chip=8"};
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request));
  EXPECT_EQ(p.record.config().parameters(), 784 * 64 + 64 + 64 * 10 + 10);
  request.settings = {"widhts=784,64,10"};
  EXPECT_THAT(Predict(request).status(),
              ::ptxla::testing::StatusIs(absl::StatusCode::kNotFound,
                                         HasSubstr("widths")));
}

// What is dumped can be read back and is what was printed.
TEST(WorkloadRunTest, EveryDumpedStageParsesBackToItself) {
  TemporaryFolder folder;
  RunRequest request = Request("v5e-1");
  request.dump_to = folder.path();
  request.steps = 1;
  ASSERT_OK(Predict(request).status());
  int files = 0;
  for (const std::string& name : folder.List()) {
    TransformOptions options;
    options.topology = "v5e-1";
    options.from = absl::EndsWith(name, ".tpuasm")      ? Stage::kTpuasm
                   : absl::EndsWith(name, ".textproto") ? Stage::kTrace
                   : absl::EndsWith(name, ".lazy")      ? Stage::kLazy
                                                        : Stage::kHlo;
    options.to = options.from;
    ASSERT_OK_AND_ASSIGN(const std::string text,
                         ReadFile(folder.path() + "/" + name));
    ASSERT_OK_AND_ASSIGN(const std::string again,
                         Transform(text, name, options));
    EXPECT_EQ(again, text) << name;
    ++files;
  }
  EXPECT_GT(files, 10);
}

}  // namespace
}  // namespace ptxla::driver
