#include "runtime/metrics.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FormatTimeTest, APartShowsOneTooManyWhenHalfOfItIsBelow) {
  EXPECT_EQ(FormatTime(59.9e9), "60s900ms000.000us");
  // docs/source/features/scan.md of PyTorch/XLA, decoded: 116.694418595 s.
  EXPECT_EQ(FormatTime(116.694418595e9), "02m57s694ms418.595us");
}

TEST(FormatTimeTest, MicrosecondsAlwaysStandAndEarlierPartsOnlyFromOne) {
  EXPECT_EQ(FormatTime(1301), "001.301us");
  EXPECT_EQ(FormatTime(40171032), "040ms171.032us");
  EXPECT_EQ(FormatTime(0), "000.000us");
  EXPECT_EQ(FormatTime(3600e9), "01h00m00s000ms000.000us");
}

TEST(FormatTimeTest, IsThatOfReportsThatUsersQuote) {
  EXPECT_EQ(FormatTime(369.400746001e9), "06m09s401ms746.001us");
  EXPECT_EQ(FormatTime(977.969600791e9), "16m18s970ms600.791us");
  EXPECT_EQ(FormatTime(8267.875437223e9), "02h18m48s875ms437.223us");
  EXPECT_EQ(FormatTime(777.572062e6), "778ms572.062us");
}

TEST(FormatBytesTest, DividesBy1024) {
  EXPECT_EQ(FormatBytes(56), "56.00B");
  EXPECT_EQ(FormatBytes(1024), "1.00KB");
  EXPECT_EQ(FormatBytes(1.5 * 1024 * 1024 * 1024), "1.50GB");
}

// A report of real torch_xla 2.9 (five steps of a small model, TensorsGraphSize
// and CachedCompile), with its sample values and the time between its first
// and last sample.
TEST(MetricsArenaTest, ReportsInTheByteFormatOfTorchXla) {
  MetricsArena arena;
  const double values[] = {81, 113, 113, 113, 113};
  for (int i = 0; i < 5; ++i) {
    arena.AddSample("TensorsGraphSize", MetricKind::kValue,
                    FromSeconds(100 + i * 0.9025535), values[i]);
  }
  arena.AddCounter("CachedCompile", 3);
  arena.AddCounter("NeverHappened", 0);
  EXPECT_EQ(arena.Report(),
            "Metric: TensorsGraphSize\n"
            "  TotalSamples: 5\n"
            "  Accumulator: 533.00\n"
            "  ValueRate: 147.64 / second\n"
            "  Rate: 1.38496 / second\n"
            "  Percentiles: 1%=81.00; 5%=81.00; 10%=81.00; 20%=113.00; "
            "50%=113.00; 80%=113.00; 90%=113.00; 95%=113.00; 99%=113.00\n"
            "Counter: CachedCompile\n"
            "  Value: 3\n");
}

TEST(MetricsArenaTest, ASingleSampleHasNoRates) {
  MetricsArena arena;
  arena.AddSample("CompileTime", MetricKind::kTime, FromSeconds(1), 2e9);
  EXPECT_EQ(arena.Report().find("Rate"), std::string::npos);
  EXPECT_THAT(arena.Report(), HasSubstr("1%=02s000ms000.000us; 5%="));
}

TEST(MetricsArenaTest, TheRingForgetsButTheTotalsDoNot) {
  MetricsArena arena;
  for (int i = 0; i < kMetricsRing + 100; ++i) {
    arena.AddSample("M", MetricKind::kValue, FromSeconds(i), i < 100 ? 1e6 : 1);
  }
  const std::string report = arena.Report();
  EXPECT_THAT(report, HasSubstr("TotalSamples: 1124\n"));
  EXPECT_THAT(report, HasSubstr("Accumulator: 100001024.00\n"));
  EXPECT_THAT(report, HasSubstr("99%=1.00\n"));
  EXPECT_THAT(report, HasSubstr("ValueRate: 1.00 / second\n"));
}

TEST(MetricsTest, TheLazyArenaStandsFirstAndNothingSeparates) {
  Metrics metrics;
  metrics.runtime.AddCounter("MarkStep");
  metrics.lazy.AddCounter("UncachedCompile");
  EXPECT_EQ(metrics.Report(),
            "Counter: UncachedCompile\n  Value: 1\n"
            "Counter: MarkStep\n  Value: 1\n");
}

}  // namespace
}  // namespace ptxla::runtime
