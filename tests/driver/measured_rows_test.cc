#include "driver/measured_rows.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

std::string WriteTable(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/measured_rows.csv";
  EXPECT_OK(WriteFile(path, text));
  return path;
}

TEST(CsvTest, AQuotedCellMayHoldCommasQuotesAndLines) {
  const auto table = ParseCsv("a,\"b,\"\"c\"\"\nd\",e\nf,,\n");
  ASSERT_OK(table);
  ASSERT_EQ(table->size(), 2u);
  EXPECT_EQ((*table)[0], (std::vector<std::string>{"a", "b,\"c\"\nd", "e"}));
  EXPECT_EQ((*table)[1], (std::vector<std::string>{"f", "", ""}));
}

TEST(CsvTest, AnOpenQuoteIsRefused) { EXPECT_FALSE(ParseCsv("a,\"b\n").ok()); }

TEST(MeasuredRowsTest, ColumnsAreFoundByNameAndProgramsBesideTheTable) {
  const std::string path = WriteTable(
      "time_us,id,extra,program,timing,target,cores,residency\n"
      "1.5,B-GEMM-0012,x,programs/a.hlo,device_event,v6e-1,1,vmem\n"
      ",O-PWR-1,x,,not_runnable,,,\n");
  const auto rows = ReadMeasuredRows(path);
  ASSERT_OK(rows);
  ASSERT_EQ(rows->size(), 2u);
  const MeasuredRow& row = (*rows)[0];
  EXPECT_EQ(row.block, "B-GEMM");
  EXPECT_EQ(row.number, 12);
  EXPECT_EQ(row.program, ::testing::TempDir() + "/programs/a.hlo");
  EXPECT_EQ(row.residency, Residency::kVmem);
  EXPECT_EQ(*row.time_us, 1.5);
  EXPECT_TRUE(row.runnable());
  EXPECT_FALSE((*rows)[1].runnable());
}

TEST(MeasuredRowsTest, AnUnknownConventionIsNamedWithItsLine) {
  const std::string path = WriteTable(
      "id,program,timing,target,time_us\nA-1,a.hlo,stopwatch,v6e-1,2\n");
  const auto rows = ReadMeasuredRows(path);
  ASSERT_FALSE(rows.ok());
  EXPECT_THAT(std::string(rows.status().message()),
              HasSubstr(":2: timing is \"stopwatch\""));
}

}  // namespace
}  // namespace ptxla::driver
