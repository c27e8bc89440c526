// One row of a table of measurements, with its ops and its longest kernel.
#include "driver/explain/explain_row.h"

#include "base/files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

MeasuredRow Row(Timing timing) {
  const std::string path = ::testing::TempDir() + "/explain_row.hlo";
  EXPECT_OK(WriteFile(path, R"(HloModule m
ENTRY e {
  a = bf16[1024,1024] parameter(0)
  b = bf16[1024,1024] parameter(1)
  ROOT d = bf16[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"));
  MeasuredRow row;
  row.id = "X-1";
  row.block = "X";
  row.program = path;
  row.target = "v6e-1";
  row.cores = 1;
  row.timing = timing;
  row.time_us = 5;
  return row;
}

TEST(ExplainRowTest, TheLongestOpIsExplainedAndTheTimeIsThatOfValidate) {
  const MeasuredRow row = Row(Timing::kDeviceEvent);
  const auto e = ExplainRow(row, {});
  ASSERT_OK(e);
  EXPECT_EQ(e->predicted_us, *Validate({row}, {}).rows[0].predicted_us);
  EXPECT_EQ(e->longest.op(), e->program.ops(0).name());
  int64_t cycles = 0;
  for (const record::Loss& l : e->longest.losses()) cycles += l.cycles();
  EXPECT_EQ(cycles, e->longest.cycles());
  const std::string text = ExplainedRowText(*e);
  EXPECT_THAT(text, HasSubstr("measured"));
  EXPECT_THAT(text, HasSubstr("device_event: device time of the whole"));
  EXPECT_THAT(text, HasSubstr("where it goes"));
}

TEST(ExplainRowTest, ARowWithoutAProgramCannotBeExplained) {
  EXPECT_EQ(ExplainRow(Row(Timing::kNotRunnable), {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ptxla::driver
