// Which algorithm a slice runs, and what it costs there.
#include "interconnect/collectives.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::ici {
namespace {

using ::ptxla::testing::IsOk;
using ::testing::HasSubstr;

chips::Slice SliceOf(absl::string_view name) {
  absl::StatusOr<chips::Slice> slice = chips::ParseSlice(name);
  EXPECT_TRUE(slice.ok()) << slice.status();
  return *slice;
}

CollectiveCost Cost(const chips::Slice& slice, Collective c) {
  absl::StatusOr<CollectiveCost> cost = CostOf(c, slice.topology, slice.chip);
  EXPECT_TRUE(cost.ok()) << cost.status();
  return *cost;
}

TEST(Collectives, TheMeshOfV5e8IsOneRingOf8UsedBothWays) {
  const chips::Slice slice = SliceOf("v5e-8");
  const double V = 640e6;
  const CollectiveCost cost = Cost(slice, {Kind::kAllReduce, Bytes(V)});
  EXPECT_EQ(cost.algorithm, "ring of 8, both ways");
  EXPECT_EQ(cost.group_size, 8);
  const double w = slice.chip.ici().effective_link().count();
  const double expected = 2 * (7.0 / 8 * V / (2 * w) + 7 * 1e-6) +
                          ToSeconds(slice.chip.ici().collective_startup);
  EXPECT_NEAR(ToSeconds(cost.time) / expected, 1, 1e-9);
  EXPECT_NEAR(cost.bytes_per_link.count(), 7.0 / 8 * V, 1);
}

TEST(Collectives, LargerBoxesRunOneClassPerAxis) {
  EXPECT_EQ(
      Cost(SliceOf("v5e-16"), {Kind::kAllReduce, Bytes(1 << 20)}).algorithm,
      "4x4 mesh, 2 classes");
  EXPECT_EQ(
      Cost(SliceOf("v5p-128"), {Kind::kAllReduce, Bytes(1 << 20)}).algorithm,
      "4x4x4 torus, 3 classes");
  EXPECT_EQ(Cost(SliceOf("v4-16"), {Kind::kAllReduce, Bytes(1 << 20)}).phases,
            6);
}

TEST(Collectives, AllReduceIsReduceScatterAndAllGather) {
  const chips::Slice slice = SliceOf("v5p-128");
  const Picoseconds startup = slice.chip.ici().collective_startup;
  const Bytes V(64 << 20);
  const CollectiveCost ar = Cost(slice, {Kind::kAllReduce, V});
  const CollectiveCost rs = Cost(slice, {Kind::kReduceScatter, V});
  const CollectiveCost ag = Cost(slice, {Kind::kAllGather, V});
  EXPECT_NEAR((ar.time + startup).count(), (rs.time + ag.time).count(), 2);
}

TEST(Collectives, GroupsAlongAnAxisUseThatAxis) {
  const chips::Slice slice = SliceOf("v5e-8");  // 2x4
  Collective c{Kind::kAllGather, Bytes(8 << 20)};
  c.groups = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  EXPECT_EQ(Cost(slice, c).algorithm, "line of 4");
  c.groups = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_EQ(Cost(slice, c).algorithm, "line of 2");
}

TEST(Collectives, AnAxisOf16IsARing) {
  Collective c{Kind::kAllGather, Bytes(8 << 20)};
  for (int x = 0; x < 16; ++x) {
    c.groups.emplace_back();
    for (int y = 0; y < 16; ++y) c.groups.back().push_back(16 * x + y);
  }
  EXPECT_EQ(Cost(SliceOf("v6e-256"), c).algorithm, "ring of 16");
}

TEST(Collectives, ScatteredGroupsPayForSharedLinks) {
  const chips::Slice slice = SliceOf("v5e-16");  // 4x4
  Collective near{Kind::kAllGather, Bytes(8 << 20)};
  Collective far = near;
  for (int i = 0; i < 4; ++i) {
    near.groups.push_back({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
    far.groups.emplace_back();
    for (int j = 0; j < 4; ++j) {
      far.groups.back().push_back((4 * i + j) * 3 % 16);
    }
  }
  const CollectiveCost slow = Cost(slice, far);
  EXPECT_THAT(slow.algorithm, HasSubstr("over shared links"));
  EXPECT_GT(slow.time, Cost(slice, near).time);
}

// Partitions 2c and 2c + 1 are the cores of chip c.
TEST(Collectives, GroupsOfTheSameChipsShareTheirLinks) {
  const chips::Slice slice = SliceOf("v3-8");  // 2x2 chips of two cores
  Collective one{Kind::kAllReduce, Bytes(64 << 20)};
  Collective both = one;
  one.groups = {{0, 2, 4, 6}};
  both.groups = {{0, 2, 4, 6}, {1, 3, 5, 7}};
  EXPECT_EQ(Cost(slice, both).bytes_per_link.count(),
            2 * Cost(slice, one).bytes_per_link.count());
  EXPECT_GT(Cost(slice, both).time.count(),
            1.9 * Cost(slice, one).time.count());
}

// Each device reads what it has and writes what it gets.
TEST(Collectives, DevicesOfOneChipAreNoFasterThanTheirMemory) {
  const chips::Slice slice = SliceOf("tpu7x:1x1x1");  // two devices
  const double rate = slice.chip.hbm_bandwidth_per_device().count();
  const Bytes size(256 << 20);
  Collective swap{Kind::kPermute, size};
  swap.pairs = {{0, 1}, {1, 0}};
  EXPECT_GE(ToSeconds(Cost(slice, swap).time), 2 * size.count() / rate);
  EXPECT_GE(ToSeconds(Cost(slice, {Kind::kAllToAll, size}).time),
            2 * size.count() / rate);
}

TEST(Collectives, OneDeviceCostsNothing) {
  const CollectiveCost cost =
      Cost(SliceOf("v5e-1"), {Kind::kAllReduce, Bytes(1 << 20)});
  EXPECT_EQ(cost.time, Picoseconds(0));
  EXPECT_EQ(cost.hbm_bytes, Bytes(0));
}

// Published permutes round a ring in the order of devices, us. Without wraps
// its last pair is 2 hops apart on v5p-8, 4 on v6e-8.
TEST(Collectives, PermutesOfV5pAndV6eTakeAsLongAsMeasured) {
  const struct {
    const char* slice;
    double bytes, us;
  } kRows[] = {{"v5p-8", 1 << 20, 16.94}, {"v5p-8", 64 << 20, 781.98},
               {"v6e-8", 1 << 20, 17.45}, {"v6e-8", 64 << 20, 776.34},
               {"v5p-8", 8192, 5.0},      {"v6e-8", 8192, 5.75}};
  for (const auto& row : kRows) {
    Collective c{Kind::kPermute, Bytes(row.bytes)};
    const chips::Slice slice = SliceOf(row.slice);
    const int devices = slice.topology.num_devices();
    for (int d = 0; d < devices; ++d) c.pairs.push_back({d, (d + 1) % devices});
    EXPECT_NEAR(ToSeconds(Cost(slice, c).time) * 1e6 / row.us, 1, 0.05)
        << row.slice << " " << row.bytes;
  }
}

TEST(Collectives, SeveralSlicesAddTheirNetwork) {
  const Bytes V(640e6);
  const CollectiveCost one = Cost(SliceOf("v5e-256"), {Kind::kAllReduce, V});
  const CollectiveCost two = Cost(SliceOf("2xv5e-256"), {Kind::kAllReduce, V});
  const CollectiveCost four = Cost(SliceOf("4xv5e-256"), {Kind::kAllReduce, V});
  EXPECT_EQ(one.dcn_time, Picoseconds(0));
  // 2 * ((s-1)/s * V / (256 chips * 3.125 GB/s) + 50 us)
  EXPECT_NEAR(ToSeconds(two.dcn_time) * 1e3, 0.8 + 0.1, 1e-3);
  EXPECT_NEAR(ToSeconds(four.dcn_time) * 1e3, 1.2 + 0.1, 1e-3);
  EXPECT_EQ(two.time - two.dcn_time, one.time);
}

TEST(Collectives, DevicesThatTheSliceLacksAreRefused) {
  const chips::Slice slice = SliceOf("v5e-8");
  Collective c{Kind::kAllReduce, Bytes(1)};
  c.groups = {{0, 8}};
  EXPECT_FALSE(CostOf(c, slice.topology, slice.chip).ok());
  c.groups = {{0, 0}};
  EXPECT_FALSE(CostOf(c, slice.topology, slice.chip).ok());
  c.groups = {{0, 1}, {2}};
  EXPECT_FALSE(CostOf(c, slice.topology, slice.chip).ok());
}

TEST(Collectives, AFasterLinkIsNeverSlower) {
  const chips::Slice slice = SliceOf("v5p-256");
  for (Kind kind : {Kind::kAllReduce, Kind::kAllGather, Kind::kAllToAll}) {
    for (const char* key : {"ici.link", "ici.efficiency"}) {
      auto better = slice.chip.WithScaled(key, 1.1);
      ASSERT_THAT(better, IsOk());
      Collective c{kind, Bytes(4 << 20)};
      EXPECT_LE(CostOf(c, slice.topology, *better)->time, Cost(slice, c).time);
    }
  }
}

}  // namespace
}  // namespace ptxla::ici
