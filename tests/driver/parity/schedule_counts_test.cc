// Our bundles against those of the TPU compiler's published schedules.
#include "driver/parity/schedule_counts.h"

#include <map>

#include "base/files.h"
#include "driver/parity/schedule_programs.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

std::string Written(const std::string& lines) {
  const std::string path = ::testing::TempDir() + "/schedule_counts.csv";
  EXPECT_OK(WriteFile(path, "chip,topic,quantity,value,unit,n,how\n" + lines));
  return path;
}

TEST(ScheduleProgramTest, NamesSayTypeAndShape) {
  EXPECT_THAT(ScheduleProgram("mm1024_f32_high"),
              HasSubstr("operand_precision={high,high}"));
  EXPECT_THAT(ScheduleProgram("mm1024_s8"), HasSubstr("s32[1024,1024] dot"));
  EXPECT_THAT(ScheduleProgram("mms_128_256_bf16"),
              HasSubstr("b = bf16[128,256]"));
  EXPECT_THAT(ScheduleProgram("u_tanh_bf16"), HasSubstr("tanh(a)"));
  EXPECT_EQ(ScheduleProgram("p_add_f32"), "");
  for (const char* name :
       {"mmt1024_bf16", "b_cmpsel_bf16", "c_f8_f32", "argmax_f32", "add8",
        "softmax_f32", "sum_all_f32", "bcast_lane_f32", "transpose_bf16"}) {
    EXPECT_OK(hlo::ParseModule(ScheduleProgram(name)).status()) << name;
  }
}

TEST(ScheduleCountsTest, ABodyRunsOncePerGridStep) {
  const auto counts = CompareSchedules(
      Written("v5e,mxu,mm1024_bf16 bundles of the text,4346,,,\n"
              "v5e,mxu,mm1024_bf16 bundles per grid-loop body,4337,,,\n"
              "v5e,mxu,mm1024_bf16 matmul ops in the kernel text,1024,,,\n"
              "v5e,mxu,mm1024_bf16 matmul ops x grid steps,4096,,,\n"),
      {});
  ASSERT_OK(counts);
  ASSERT_EQ(counts->rows.size(), 1);
  EXPECT_EQ(counts->rows[0].theirs, 4346 + 3 * 4337);
  EXPECT_LT(counts->rows[0].Error(), 0.1);
}

TEST(ScheduleCountsTest, WhatDoesNotRunCountsAsAnErrorOfOne) {
  ScheduleCount row;
  row.theirs = 10;
  EXPECT_EQ(row.Error(), 1);
  row.ours = 9;
  EXPECT_NEAR(row.Error(), 0.1, 1e-9);
}

// Percent, per group; what is better by much wants lower numbers here.
struct Limit {
  int ran;
  double median, p90;
};
const std::map<std::string, Limit>& Limits() {
  static const auto* limits = new std::map<std::string, Limit>{
      {"1024^3", {66, 6, 50}},
      {"elementwise", {427, 4, 18}},
      {"other products", {27, 3, 12}},
      {"overheads", {63, 10, 30}},
      {"reductions, movement", {118, 14, 45}},
      {"small products", {42, 12, 70}},
  };
  return *limits;
}

TEST(ScheduleCountsTest, PublishedCountsAreMetAsFarAsTheyHaveBeen) {
  const auto csv = ::ptxla::testing::SharedPath("reference/tpu_slots.csv");
  if (!csv.ok()) GTEST_SKIP() << csv.status();
  const auto counts = CompareSchedules(*csv, {});
  ASSERT_OK(counts);
  EXPECT_GT(counts->total().rows, 700);
  for (const ScheduleSummary& s : counts->summaries) {
    if (s.chip != "all" || s.group == "all") continue;
    const auto limit = Limits().find(s.group);
    ASSERT_TRUE(limit != Limits().end()) << s.group;
    EXPECT_GE(s.ran, limit->second.ran) << s.group;
    EXPECT_LE(s.median * 100, limit->second.median) << s.group;
    EXPECT_LE(s.p90 * 100, limit->second.p90) << s.group;
  }
}

}  // namespace
}  // namespace ptxla::driver
