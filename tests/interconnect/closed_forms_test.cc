// The exact forms against worked examples, to the printed digit.
#include "interconnect/closed_forms.h"

#include <cmath>
#include <string>

#include "chips/topology.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::ici {
namespace {

struct Example {
  const char* box;
  const char* op;
  double us[4];  // at 64 KiB, 1 MiB, 32 MiB, 256 MiB
};

// Link efficiency 1, one microsecond per hop; one-way links of 45 GB/s on v4
// and v5e, 90 GB/s on v5p and v6e.
constexpr Example kExamples[] = {
    {"v5e:2x2", "all-gather", {2.55, 10.74, 281.62, 2238.96}},
    {"v5e:2x2", "all-reduce", {5.09, 21.48, 563.24, 4477.92}},
    {"v5e:2x2", "all-to-all", {2.73, 13.65, 374.83, 2984.62}},
    {"v5e:2x4", "all-gather", {6.82, 19.11, 425.43, 3361.44}},
    {"v5e:2x4", "all-reduce", {13.64, 38.21, 850.86, 6722.89}},
    {"v5e:2x4", "all-to-all", {5.46, 27.30, 749.65, 5969.23}},
    {"v5e:4x4", "all-gather", {6.68, 16.92, 355.53, 2802.20}},
    {"v5e:4x4", "all-reduce", {13.37, 33.85, 711.05, 5604.41}},
    {"v5e:4x4", "all-to-all", {7.46, 29.30, 751.65, 5971.23}},
    {"v5e:8x16", "all-gather", {16.41, 25.92, 364.53, 2806.55}},
    {"v5e:8x16", "all-reduce", {32.82, 51.85, 729.05, 5613.10}},
    {"v5e:8x16", "all-to-all", {17.91, 61.60, 1506.31, 11945.46}},
    {"v5e:16x16", "all-gather", {16.39, 22.19, 209.41, 1514.31}},
    {"v5e:16x16", "all-reduce", {32.77, 44.38, 418.83, 3028.62}},
    {"v5e:16x16", "all-to-all", {18.91, 62.60, 1507.31, 11946.46}},
    {"v6e:16x16", "all-gather", {16.19, 19.09, 115.03, 768.65}},
    {"v6e:16x16", "all-reduce", {32.39, 38.19, 230.06, 1537.31}},
    {"v6e:16x16", "all-to-all", {17.46, 39.30, 761.65, 5981.23}},
    {"v4:4x4x4", "all-gather", {6.32, 11.10, 131.33, 987.67}},
    {"v4:4x4x4", "all-reduce", {12.64, 22.19, 262.67, 1975.34}},
    {"v4:4x4x4", "all-to-all", {6.73, 17.65, 378.83, 2988.62}},
    {"v5p:2x2x1", "all-gather", {2.27, 6.37, 141.81, 1120.48}},
    {"v5p:2x2x1", "all-reduce", {4.55, 12.74, 283.62, 2240.96}},
    {"v5p:2x2x1", "all-to-all", {2.36, 7.83, 188.41, 1493.31}},
    {"v5p:2x2x4", "all-gather", {9.32, 14.10, 172.11, 1313.89}},
    {"v5p:2x2x4", "all-reduce", {18.64, 28.19, 344.22, 2627.79}},
    {"v5p:2x2x4", "all-to-all", {5.73, 16.65, 377.83, 2987.62}},
    {"v5p:4x4x4", "all-gather", {6.16, 8.55, 70.14, 498.34}},
    {"v5p:4x4x4", "all-reduce", {12.32, 17.10, 140.28, 996.67}},
    {"v5p:4x4x4", "all-to-all", {6.36, 11.83, 192.41, 1497.31}},
    {"v5p:4x4x8", "all-gather", {12.16, 14.55, 88.79, 591.89}},
    {"v5p:4x4x8", "all-reduce", {24.32, 29.10, 177.58, 1183.78}},
    {"v5p:4x4x8", "all-to-all", {8.73, 19.65, 380.83, 2990.62}},
    {"v5p:8x8x8", "all-gather", {12.14, 14.21, 78.11, 515.10}},
    {"v5p:8x8x8", "all-reduce", {24.28, 28.43, 156.22, 1030.21}},
    {"v5p:8x8x8", "all-to-all", {12.73, 23.65, 384.83, 2994.62}},
};

double LinkOf(const std::string& chip) {
  return chip == "v4" || chip == "v5e" ? 4.5e10 : 9e10;
}

TEST(ClosedForms, GiveTheWorkedExamplesToThePrintedDigit) {
  const double kBytes[4] = {65536, 1048576, 33554432, 268435456};
  for (const Example& e : kExamples) {
    absl::StatusOr<chips::Slice> slice = chips::ParseSlice(e.box);
    ASSERT_TRUE(slice.ok()) << slice.status();
    std::vector<Axis> axes;
    for (const chips::Topology::Axis& a : slice->topology.axes()) {
      axes.push_back({a.size, a.wrap});
    }
    const Link link = {LinkOf(slice->chip.name()), 1e-6};
    for (int i = 0; i < 4; ++i) {
      double seconds = 0;
      if (std::string(e.op) == "all-to-all") {
        seconds = AllToAllTorus(axes, kBytes[i], link);
      } else {
        seconds = AllGatherTorus(axes, kBytes[i], link);
        if (std::string(e.op) == "all-reduce") seconds *= 2;
      }
      EXPECT_NEAR(seconds * 1e6, e.us[i], 0.00501)
          << e.box << " " << e.op << " " << kBytes[i];
    }
  }
}

TEST(ClosedForms, ARingIsNeverSlowerThanTheLine) {
  for (int n = 2; n <= 16; ++n) {
    for (double bytes : {1e3, 1e6, 1e9}) {
      const Link link = {4.5e10, 1e-6};
      EXPECT_LE(AllGatherAxis({n, true}, bytes, link),
                AllGatherAxis({n, false}, bytes, link))
          << n;
    }
  }
}

// Estimates printed in jax-ml/scaling-book, tpus.md and sharding.md.
TEST(ClosedForms, AgreeWithPublishedEstimates) {
  EXPECT_NEAR(AllGatherAxis({4, false}, 2048 * 8192 * 2, {4.5e10, 1e-6}) * 1e6,
              560, 3);
  EXPECT_NEAR(PointToPoint(16.8e6, 6, {4.5e10, 1e-6}, 2) * 1e6, 194, 1.5);
}

// One ring of v3 and v5e size in another simulator of collectives, in ns.
TEST(ClosedForms, AgreeWithAnEventSimulationOfARing) {
  const Link link = {4.5e10, 1e-6};
  const std::pair<double, double> kRing4[] = {{65536, 3546},
                                              {1048576, 11736},
                                              {33554432, 282618},
                                              {268435456, 2239962}};
  for (const auto& [bytes, ns] : kRing4) {
    const double two_rings = 0.75 * bytes / (2 * link.w) + 3 * link.t;
    EXPECT_LE(AllGatherAxis({4, true}, bytes, link), two_rings);
    EXPECT_NEAR(two_rings * 1e9 / ns, 1, 0.0005);
  }
}

TEST(ClosedForms, OneChipTakesNoTime) {
  EXPECT_EQ(AllGatherTorus({{1, false}, {1, false}}, 1e9, {4.5e10, 1e-6}), 0);
  EXPECT_EQ(AllToAllTorus({{1, false}}, 1e9, {4.5e10, 1e-6}), 0);
}

}  // namespace
}  // namespace ptxla::ici
