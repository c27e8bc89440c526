// From an HLO file to a record: what must hold for every program.

#include "driver/prediction.h"
#include "reports/json_report.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;

struct Case {
  const char* name;
  const char* file;  // below the shared corpus; empty: `text`
  const char* text;
  const char* topology;
  bool estimate = false;  // holds operations without a kernel
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

constexpr char kAdd[] = R"(HloModule add
ENTRY main {
  a = f32[512,1024] parameter(0)
  b = f32[512,1024] parameter(1)
  ROOT c = f32[512,1024] add(a, b)
}
)";
constexpr char kDot[] = R"(HloModule dot
ENTRY main {
  a = bf16[512,1024] parameter(0)
  b = bf16[1024,512] parameter(1)
  ROOT c = bf16[512,512] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

class HloRunTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    if (c.text[0] != '\0') {
      request_.hlo = folder_.Write("m.hlo", c.text);
    } else {
      const auto path =
          ::ptxla::testing::SharedPath(std::string("hlo_corpus/") + c.file);
      if (!path.ok()) GTEST_SKIP() << path.status();
      request_.hlo = *path;
    }
    request_.topology = c.topology;
    request_.estimate_unknown_ops = c.estimate;
    request_.assumed_effects = false;
    request_.prove = true;
  }

  TemporaryFolder folder_;
  RunRequest request_;
};

int64_t Sum(const record::BoundTimes& b) {
  return b.mxu_ps() + b.vpu_ps() + b.hbm_ps() + b.ici_ps() + b.dcn_ps() +
         b.host_ps() + b.input_ps() + b.overhead_ps();
}

TEST_P(HloRunTest, EveryPicosecondBelongsToOneBoundAtEveryFidelity) {
  for (const char* fidelity : {"roofline", "kernel", "tile"}) {
    request_.fidelity = fidelity;
    ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request_));
    EXPECT_GT(p.record.step_time().value_ps(), 0) << fidelity;
    EXPECT_EQ(Sum(p.record.time_by_bound()), p.record.step_time().value_ps())
        << fidelity;
  }
}

TEST_P(HloRunTest, KernelIsWithinOnePercentOfTile) {
  request_.fidelity = "kernel";
  ASSERT_OK_AND_ASSIGN(const Prediction kernel, Predict(request_));
  request_.fidelity = "tile";
  ASSERT_OK_AND_ASSIGN(const Prediction tile, Predict(request_));
  const auto exact = static_cast<double>(tile.record.step_time().value_ps());
  EXPECT_NEAR(static_cast<double>(kernel.record.step_time().value_ps()), exact,
              0.01 * exact);
}

TEST_P(HloRunTest, TheSameRunGivesTheSameResult) {
  ASSERT_OK_AND_ASSIGN(const Prediction a, Predict(request_));
  ASSERT_OK_AND_ASSIGN(const Prediction b, Predict(request_));
  EXPECT_EQ(a.record.result_hash(), b.record.result_hash());
  EXPECT_EQ(a.record.config_hash(), b.record.config_hash());
}

TEST_P(HloRunTest, OneExecutionIsWhatIsCountedAndPriced) {
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request_));
  EXPECT_EQ(p.record.config().sample_unit(), "executions");
  const double seconds =
      static_cast<double>(p.record.step_time().value_ps()) * 1e-12;
  EXPECT_NEAR(p.record.throughput() * seconds, 1, 1e-9);
  EXPECT_EQ(p.record.cost().usd_per_million_samples() > 0, p.record.has_cost())
      << "a chip without a price has none";
}

TEST_P(HloRunTest, NothingIsFasterThanTheChip) {
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request_));
  for (const record::OpRecord& op : p.record.programs(0).ops()) {
    if (op.has_fraction_of_peak()) {
      EXPECT_LE(op.fraction_of_peak(), 1.0) << op.name();
    }
  }
  EXPECT_LE(p.record.hfu(), 1.0);
}

#ifndef PTXLA_SLOW_CASES
// A product on one of the two cores of a chip: compiled for one, and slower.
TEST(CoresInUseTest, OneCoreOfTwoRunsAProgram) {
  const TemporaryFolder folder;
  for (const char* chip : {"v4:1x1x1", "v5p:1x1x1"}) {
    RunRequest request;
    request.hlo = folder.Write("m.hlo", R"(HloModule dot
ENTRY main {
  a = bf16[2048,1024] parameter(0)
  b = bf16[1024,2048] parameter(1)
  ROOT c = bf16[2048,2048] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
    request.topology = chip;
    request.assumed_effects = false;
    ASSERT_OK_AND_ASSIGN(const Prediction both, Predict(request));
    request.cores_per_chip = 1;
    ASSERT_OK_AND_ASSIGN(const Prediction one, Predict(request));
    EXPECT_GT(one.record.step_time().value_ps(),
              1.3 * static_cast<double>(both.record.step_time().value_ps()))
        << chip;
  }
}
#endif

std::string Name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

#ifndef PTXLA_SLOW_CASES
INSTANTIATE_TEST_SUITE_P(
    Small, HloRunTest,
    ::testing::Values(
        Case{"add_unit", "", kAdd, "unit"}, Case{"add_v6e", "", kAdd, "v6e-1"},
        Case{"dot_v5e", "", kDot, "v5e-1"}, Case{"dot_v4", "", kDot, "v4-8"},
        Case{"layer_norm", "openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
             "", "v6e-1"},
        Case{"mean_axis", "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
             "", "v6e-1"}),
    Name);
#else
INSTANTIATE_TEST_SUITE_P(
    Large, HloRunTest,
    ::testing::Values(Case{"mha",
                           "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
                           "", "v6e-1", true},
                      Case{"mlp_mnist_train",
                           "torch_xla_2_9/programs/mlp_mnist_train.hlo", "",
                           "v6e-1", true}),
    Name);
#endif

}  // namespace
}  // namespace ptxla::driver
