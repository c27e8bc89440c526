#include "reports/format.h"

#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

TEST(FormatTest, SignificantDigitsFollowTheRoundedValue) {
  EXPECT_EQ(Significant(124.13, 4), "124.1");
  EXPECT_EQ(Significant(9.996, 3), "10.0");
  EXPECT_EQ(Significant(9.994, 3), "9.99");
  EXPECT_EQ(Significant(12345.6, 3), "12346");
  EXPECT_EQ(Significant(0.0123, 2), "0.012");
  EXPECT_EQ(Significant(0, 3), "0.00");
}

TEST(FormatTest, DurationsPickTheirUnit) {
  EXPECT_EQ(Duration(FromSeconds(0.1241)), "124.1 ms");
  EXPECT_EQ(Duration(FromSeconds(145), 3), "145 s");
  EXPECT_EQ(Duration(Picoseconds(1500)), "1.500 ns");
}

TEST(FormatTest, CommasStandEveryThreeDigits) {
  EXPECT_EQ(WithCommas(336226108), "336,226,108");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(-1000), "-1,000");
}

TEST(FormatTest, SizesPickTheirUnit) {
  EXPECT_EQ(ByteSize(9771021000), "9.10 GiB");
  EXPECT_EQ(ByteSize(1572864), "1.50 MiB");
  EXPECT_EQ(ByteSize(12), "12 B");
}

TEST(FormatTest, DollarsKeepCentsOrTwoDigits) {
  EXPECT_EQ(Usd(1.294), "$1.29");
  EXPECT_EQ(Usd(0.00123), "$0.0012");
}

TEST(FormatTest, PaddingCountsCharactersNotBytes) {
  EXPECT_EQ(PadRight("\xc3\xa9", 3), "\xc3\xa9  ");
  EXPECT_EQ(PadLeft("abc", 2), "abc");
}

}  // namespace
}  // namespace ptxla::reports
