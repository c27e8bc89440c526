#include "reports/band.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

using ::testing::HasSubstr;

TEST(BandTest, EffectsAddAsSquares) {
  EXPECT_DOUBLE_EQ(
      CombinedEffect(Picoseconds(1000), {Picoseconds(30), Picoseconds(-40)}),
      0.05);
}

TEST(BandTest, WithoutValidatedRowsItIsExtrapolatedAndAtLeastTenPercent) {
  const record::Band band =
      StepBand(Picoseconds(1000), std::nullopt, {Picoseconds(30)}, "v5e-8");
  EXPECT_EQ(band.low_ps(), 900);
  EXPECT_EQ(band.high_ps(), 1100);
  EXPECT_EQ(band.basis(), "EXTRAPOLATED: no v5e-8 row measured");
}

TEST(BandTest, LargeAssumedEffectsWidenIt) {
  const record::Band band =
      StepBand(Picoseconds(1000), std::nullopt,
               {Picoseconds(300), Picoseconds(400)}, "v5e-8");
  EXPECT_EQ(band.low_ps(), 500);
  EXPECT_EQ(band.high_ps(), 1500);
}

TEST(BandTest, ValidatedRowsDecideAlone) {
  const record::Band band =
      StepBand(Picoseconds(1000), ValidatedError{0.04, "6 v5e steps"},
               {Picoseconds(300)}, "v5e-8");
  EXPECT_EQ(band.low_ps(), 960);
  EXPECT_THAT(band.basis(), HasSubstr("6 v5e steps"));
}

}  // namespace
}  // namespace ptxla::reports
