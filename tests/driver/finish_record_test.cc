#include "driver/finish_record.h"

#include "driver/device_session.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

record::RunRecord Timed() {
  record::RunRecord r;
  r.mutable_config()->set_topology("v5e-8");
  r.mutable_config()->set_samples_per_step(256);
  r.mutable_step_time()->set_value_ps(128000000000);
  r.mutable_time_by_bound()->set_mxu_ps(100000000000);
  r.mutable_time_by_bound()->set_hbm_ps(28000000000);
  r.set_model_flops_per_step_per_chip(8370000000000);
  return r;
}

TEST(FinishRecordTest, RatesBoundBandAndCostFollow) {
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  record::RunRecord r = Timed();
  FinishRecord(slice, &r);
  EXPECT_DOUBLE_EQ(r.throughput(), 2000);
  EXPECT_EQ(r.bound(), "mxu");
  EXPECT_NEAR(r.mfu(), 8.37e12 / (196.6e12 * 0.128), 0.005);
  EXPECT_THAT(r.step_time().basis(), HasSubstr("EXTRAPOLATED"));
  // 8 chips at $1.20 for 500 s.
  EXPECT_NEAR(r.cost().usd_per_million_samples(), 8 * 1.2 * 500 / 3600, 1e-9);
}

TEST(FinishRecordTest, HfuIsWhatTheProductsTakeAtTheirPeakOverTheStep) {
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  record::RunRecord r = Timed();
  r.add_programs()->set_mxu_peak_ps(32000000000);
  r.set_steady_program(0);
  FinishRecord(slice, &r);
  EXPECT_DOUBLE_EQ(r.hfu(), 0.25);
}

TEST(FinishRecordTest, AllModulesOfHloCountForHfu) {
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  record::RunRecord r = Timed();
  r.mutable_config()->set_hlo_source("dumps");
  r.add_programs()->set_mxu_peak_ps(32000000000);
  r.add_programs()->set_mxu_peak_ps(16000000000);
  r.set_steady_program(0);
  FinishRecord(slice, &r);
  EXPECT_DOUBLE_EQ(r.hfu(), 0.375);
}

TEST(FinishRecordTest, TheResultHashIgnoresWhenAndHowFastTheToolRan) {
  record::RunRecord a = Timed(), b = Timed();
  b.set_run_id("other");
  b.set_started_unix_ms(7);
  b.mutable_tool()->set_wall_s(3);
  a.add_compiles()->set_wall_ns(1);
  b.add_compiles()->set_wall_ns(2);
  EXPECT_EQ(ResultHash(a), ResultHash(b));
  b.mutable_step_time()->set_value_ps(1);
  EXPECT_NE(ResultHash(a), ResultHash(b));
}

TEST(FinishRecordTest, TheConfigHashFollowsContentNotFileNames) {
  record::RunConfig a, b;
  a.set_hlo_source("a.hlo");
  b.set_hlo_source("b.hlo");
  EXPECT_EQ(ConfigHash(a), ConfigHash(b));
  b.set_input_hash("1");
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
}

TEST(OutOfMemoryTextTest, IsThatOfPyTorchXla) {
  record::MemoryRecord m;
  const int64_t gib = int64_t{1} << 30, mib = 1 << 20;
  m.set_peak_bytes(22 * gib);
  m.set_usable_bytes(15 * gib + 512 * mib);
  m.set_nominal_bytes(16 * gib);
  m.set_argument_bytes(2 * gib);
  EXPECT_EQ(OutOfMemoryText(m),
            "Ran out of memory in memory space hbm. Used 22.00G of 15.50G hbm. "
            "Exceeded hbm capacity by 6.50G.\n"
            "Total hbm usage >= 22.50G:\n"
            "    reserved        512.00M\n"
            "    program          20.00G\n"
            "    arguments         2.00G");
}

TEST(PredictedCompileTimeTest, GrowsWithTheInstructionsAndHasABand) {
  ASSERT_OK_AND_ASSIGN(const auto chip, chips::ChipSpec::Load("v5e"));
  ASSERT_OK_AND_ASSIGN(const auto host, runtime::HostCosts::For(chip));
  const record::Band small = PredictedCompileTime(1000, host);
  const record::Band large = PredictedCompileTime(100000, host);
  EXPECT_EQ(large.value_ps() - small.value_ps(),
            99000 * host.compile_instruction.count());
  EXPECT_LT(small.low_ps(), small.value_ps());
  EXPECT_GT(small.high_ps(), small.value_ps());
}

}  // namespace
}  // namespace ptxla::driver
