#include "driver/validation.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "driver/validation_floors.h"
#include "driver/validation_summary.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

std::string Program(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  EXPECT_OK(WriteFile(path, text));
  return path;
}

MeasuredRow Row(const std::string& id, const std::string& program,
                Timing timing) {
  MeasuredRow row;
  row.id = id;
  row.block = id.substr(0, id.rfind('-'));
  row.program = program;
  row.target = "v6e-1";
  row.timing = timing;
  row.cores = 1;
  row.time_us = 1.0;
  return row;
}

constexpr char kAdd[] = R"(HloModule add
ENTRY main {
  a = f32[131072]{0} parameter(0)
  ROOT r = f32[131072]{0} add(a, a)
})";

std::string Chain(int trips) {
  return R"(HloModule chain
body {
  s = (s32[], f32[131072]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[131072]{0} get-tuple-element(s), index=1
  y = f32[131072]{0} add(x, x)
  ROOT out = (s32[], f32[131072]{0}) tuple(next, y)
}
condition {
  s = (s32[], f32[131072]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant()" +
         std::to_string(trips) + R"()
  ROOT less = pred[] compare(i, n), direction=LT
}
ENTRY main {
  zero = s32[] constant(0)
  x = f32[131072]{0} parameter(0)
  init = (s32[], f32[131072]{0}) tuple(zero, x)
  loop = (s32[], f32[131072]{0}) while(init), condition=condition, body=body
  ROOT r = f32[131072]{0} get-tuple-element(loop), index=1
})";
}

TEST(ValidationTest, TheSlopeOfAChainDoesNotDependOnItsLength) {
  const Validation v =
      Validate({Row("X-1", Program("c4.hlo", Chain(4)), Timing::kChainSlope),
                Row("X-2", Program("c16.hlo", Chain(16)), Timing::kChainSlope)},
               {});
  ASSERT_TRUE(v.rows[0].predicted_us) << v.rows[0].note;
  ASSERT_TRUE(v.rows[1].predicted_us) << v.rows[1].note;
  EXPECT_NEAR(*v.rows[0].predicted_us, *v.rows[1].predicted_us, 1e-3);
  EXPECT_GT(*v.rows[0].predicted_us, 0);
}

TEST(ValidationTest, ThreadsDoNotChangeTheResult) {
  std::vector<MeasuredRow> rows;
  const std::string program = Program("add.hlo", kAdd);
  for (const Timing t :
       {Timing::kDeviceEvent, Timing::kHostAsync, Timing::kHostSync}) {
    rows.push_back(Row("X-" + std::to_string(rows.size()), program, t));
  }
  ValidationOptions one, four;
  one.threads = 1;
  four.threads = 4;
  const Validation a = Validate(rows, one), b = Validate(rows, four);
  for (size_t k = 0; k < rows.size(); ++k) {
    ASSERT_TRUE(a.rows[k].predicted_us) << a.rows[k].note;
    EXPECT_EQ(*a.rows[k].predicted_us, *b.rows[k].predicted_us);
  }
  // The host sees more than the device's time.
  EXPECT_GT(*a.rows[2].predicted_us, *a.rows[0].predicted_us);
}

TEST(ValidationTest, ARowThatCannotRunCountsAsWhollyWrong) {
  const Validation v =
      Validate({Row("X-1", "/does/not/exist.hlo", Timing::kDeviceEvent)}, {});
  EXPECT_FALSE(v.rows[0].predicted_us);
  EXPECT_EQ(v.rows[0].note.rfind("failed: ", 0), 0u) << v.rows[0].note;
  EXPECT_EQ(Summarise(v, {}).blocks[0].mean, 1.0);
}

TEST(ValidationTest, SplitOddJudgesTheOddAndHasNoFloorWithoutEvenOnes) {
  Validation v;
  for (const auto& [number, predicted] :
       {std::pair(1, 1.1), std::pair(3, 1.3), std::pair(2, 1.5)}) {
    ValidatedRow row;
    row.row = Row("X-" + std::to_string(number), "p.hlo", Timing::kDeviceEvent);
    row.row.number = number;
    row.predicted_us = predicted;
    row.bytes = 100;
    v.rows.push_back(row);
  }
  SummaryOptions split;
  split.split_odd = true;
  const BlockSummary both = Summarise(v, split).blocks[0];
  EXPECT_NEAR(both.mean, 0.2, 1e-9);
  ASSERT_TRUE(both.even_mean);
  EXPECT_NEAR(*both.even_mean, 0.5, 1e-9);
  EXPECT_TRUE(both.roofline_mean);
  v.rows.pop_back();
  const ValidationSummary odd = Summarise(v, split);
  EXPECT_FALSE(odd.blocks[0].roofline_mean);
  EXPECT_FALSE(odd.blocks[0].even_mean);
  EXPECT_NE(SummaryMarkdown(odd).find("| - | - |"), std::string::npos);
}

TEST(ValidationTest, ANumberOfTheChipChangesThePrediction) {
  const std::vector<MeasuredRow> rows = {
      Row("X-1", Program("add.hlo", kAdd), Timing::kDeviceEvent)};
  ValidationOptions slow;
  slow.chip_numbers = {{"hbm.latency", 1e-5}, {"no.such.number", 3}};
  const Validation a = Validate(rows, {}), b = Validate(rows, slow);
  ASSERT_TRUE(a.rows[0].predicted_us && b.rows[0].predicted_us)
      << b.rows[0].note;
  EXPECT_GT(*b.rows[0].predicted_us, *a.rows[0].predicted_us + 5);
}

TEST(FloorsTest, ARooflineIsFoundAgain) {
  const Roofline truth = {2, 700e6, 1.2e6};
  std::vector<ValidatedRow> rows;
  for (const double size : {1e3, 1e6, 1e7, 1e8}) {
    for (const double intensity : {1.0, 100.0, 1000.0, 5000.0}) {
      ValidatedRow row;
      row.bytes = size;
      row.flops = size * intensity;
      row.row.time_us = truth.Time(row);
      rows.push_back(row);
    }
  }
  std::vector<const ValidatedRow*> pointers;
  for (const ValidatedRow& row : rows) pointers.push_back(&row);
  const Roofline fitted = FitRoofline(pointers);
  for (const ValidatedRow& row : rows) {
    EXPECT_NEAR(fitted.Time(row) / *row.row.time_us, 1, 0.02);
  }
}

}  // namespace
}  // namespace ptxla::driver
