#include "reports/formulas.h"

#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

TEST(FormulasTest, MfuIsModelFlopsOverWhatThePeakDoesInTheStep) {
  EXPECT_DOUBLE_EQ(Mfu(Flops(int64_t{50}), FromSeconds(2), FlopsPerSecond(100)),
                   0.25);
}

TEST(FormulasTest, HfuCountsWhatWasExecuted) {
  // Full recomputation executes 4/3 of the model's FLOPs.
  EXPECT_DOUBLE_EQ(
      Hfu(FromSeconds(0.8), FromSeconds(1)),
      4.0 / 3 * Mfu(Flops(int64_t{60}), FromSeconds(1), FlopsPerSecond(100)));
}

TEST(FormulasTest, ThroughputIsPerSecondOfTheWholeSlice) {
  EXPECT_DOUBLE_EQ(Throughput(256, FromSeconds(0.128)), 2000);
}

// The published table of BERT-Large: 1650 samples/s on 8 chips at $3.20 per
// million samples is $19.008 per hour for 8 chips.
TEST(FormulasTest, CostPerMillionSamplesMatchesThePublishedRow) {
  EXPECT_NEAR(UsdPerMillionSamples(8, 19.008 / 8, 1650), 3.20, 1e-9);
}

TEST(FormulasTest, RentIsChipsTimesHours) {
  EXPECT_DOUBLE_EQ(RentUsd(8, 1.2, FromSeconds(1800)), 4.8);
}

}  // namespace
}  // namespace ptxla::reports
