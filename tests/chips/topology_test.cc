// Slice names, shapes and wraps: the table of the cloud's naming rules.
#include "chips/topology.h"

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::chips {
namespace {

using ::testing::HasSubstr;

// "2x4 --": shape, then per axis w (wraps) or - (does not).
std::string Layout(absl::string_view name) {
  absl::StatusOr<Slice> slice = ParseSlice(name);
  if (!slice.ok()) return std::string(slice.status().message());
  std::string text = absl::StrJoin(slice->topology.shape(), "x") + " ";
  for (const Topology::Axis& axis : slice->topology.axes()) {
    text += axis.wrap ? 'w' : '-';
  }
  return text;
}

TEST(Topology, NamesOfV5eAndV6eCountChips) {
  EXPECT_EQ(Layout("v5e-1"), "1x1 --");
  EXPECT_EQ(Layout("v5e-4"), "2x2 --");
  EXPECT_EQ(Layout("v5e-8"), "2x4 --");
  EXPECT_EQ(Layout("v5litepod-8"), "2x4 --");
  EXPECT_EQ(Layout("v5e-16"), "4x4 --");
  EXPECT_EQ(Layout("v6e-32"), "4x8 --");
  EXPECT_EQ(Layout("v6e-64"), "8x8 --");
  EXPECT_EQ(Layout("v6e-128"), "8x16 -w");
  EXPECT_EQ(Layout("v5e-256"), "16x16 ww");
}

TEST(Topology, AChipGoesByWhatItsSlicesAreCalled) {
  ASSERT_OK_AND_ASSIGN(const ChipSpec chip, ChipSpec::Load("v5litepod"));
  EXPECT_EQ(chip.name(), "v5e");
}

TEST(Topology, NamesOfV4AndV5pCountTensorCores) {
  EXPECT_EQ(Layout("v4-8"), "2x2x1 ---");
  EXPECT_EQ(Layout("v4-16"), "2x2x2 ---");
  EXPECT_EQ(Layout("v4-32"), "2x2x4 ---");
  EXPECT_EQ(Layout("v4-64"), "2x4x4 ---");
  EXPECT_EQ(Layout("v4-128"), "4x4x4 www");
  EXPECT_EQ(Layout("v4-256"), "4x4x8 www");
  EXPECT_EQ(Layout("v4-384"), "4x4x12 www");
  EXPECT_EQ(Layout("v4-512"), "4x8x8 www");
  EXPECT_EQ(Layout("v4-1024"), "8x8x8 www");
  EXPECT_EQ(Layout("v4-1536"), "8x8x12 www");
  EXPECT_EQ(Layout("v4-2048"), "8x8x16 www");
  EXPECT_EQ(Layout("v4-4096"), "8x16x16 www");
  EXPECT_EQ(Layout("v5p-12288"), "16x16x24 www");
  EXPECT_EQ(Layout("v5p-17920"), "16x20x28 www");
  EXPECT_EQ(Layout("tpu7x-2"), "1x1x1 ---");
  EXPECT_EQ(Layout("tpu7x-18432"), "16x24x24 www");
}

TEST(Topology, BoxesWrapAsTheRuleOfTheChipSays) {
  EXPECT_EQ(Layout("v5p:4x4x8"), "4x4x8 www");
  EXPECT_EQ(Layout("v5p:4x4x2"), "4x4x2 ---");
  EXPECT_EQ(Layout("v5p:1x1x1"), "1x1x1 ---");
  EXPECT_EQ(Layout("v6e:16x4"), "16x4 w-");
  EXPECT_EQ(Layout("v4:2x2"), "2x2x1 ---");
  EXPECT_EQ(Layout("v3:16x16"), "16x16 --");
  EXPECT_EQ(Layout("v3-2048"), "32x32 ww");
}

TEST(Topology, ABareChipIsOneChip) {
  EXPECT_EQ(Layout("unit"), "1x1 --");
  EXPECT_EQ(Layout("v5p"), "1x1x1 ---");
  EXPECT_EQ(Layout("v6e-1"), "1x1 --");
}

TEST(Topology, SeveralSlicesMultiplyTheChips) {
  absl::StatusOr<Slice> slice = ParseSlice("2xv5e-256");
  ASSERT_TRUE(slice.ok()) << slice.status();
  EXPECT_EQ(slice->topology.num_slices(), 2);
  EXPECT_EQ(slice->topology.num_chips(), 512);
  EXPECT_EQ(slice->topology.num_hosts(), 128);
  EXPECT_EQ(slice->topology.Description(), "2 slices of 16x16 torus");
}

TEST(Topology, HostsHoldEightChipsAloneAndFourTogether) {
  EXPECT_EQ(ParseSlice("v5e-8")->topology.num_hosts(), 1);
  EXPECT_EQ(ParseSlice("v5e-16")->topology.num_hosts(), 4);
  EXPECT_EQ(ParseSlice("v4-16")->topology.num_hosts(), 2);
  EXPECT_EQ(ParseSlice("v6e-4")->topology.num_hosts(), 1);
}

TEST(Topology, DevicesAndCores) {
  const Topology v5p = ParseSlice("v5p-256")->topology;
  EXPECT_EQ(v5p.num_chips(), 128);
  EXPECT_EQ(v5p.num_devices(), 128);
  EXPECT_EQ(v5p.cores_per_device(), 2);
  const Topology v3 = ParseSlice("v3-8")->topology;
  EXPECT_EQ(v3.num_chips(), 4);
  EXPECT_EQ(v3.num_devices(), 8);
  EXPECT_EQ(v3.cores_per_device(), 1);
  SliceOptions one;
  one.cores_per_chip = 1;
  EXPECT_EQ(ParseSlice("v4-8", one)->topology.cores_per_device(), 1);
  EXPECT_EQ(ParseSlice("v3-8", one)->topology.num_devices(), 4);
  // Programs are compiled for as many; memory stays the device's.
  const auto alone = ParseSlice("v4-8", one);
  EXPECT_EQ(alone->chip.core().cores_in_use, 1);
  EXPECT_EQ(alone->chip.devices_per_chip(), 1);
  EXPECT_EQ(ParseSlice("v4-8")->chip.core().cores_in_use, 2);
}

TEST(Topology, DescriptionSaysWhatWraps) {
  EXPECT_EQ(ParseSlice("v5e-8")->topology.Description(),
            "2x4 mesh without wrap");
  EXPECT_EQ(ParseSlice("v5e-128")->topology.Description(),
            "8x16, only the axis of 16 wraps");
  EXPECT_EQ(ParseSlice("v4-128")->topology.Description(), "4x4x4 torus");
}

TEST(Topology, CoordinatesRunOverTheLastAxisFirst) {
  const Topology t = ParseSlice("v5e-8")->topology;
  EXPECT_EQ(t.Coordinates(5), (std::vector<int>{1, 1}));
  for (int chip = 0; chip < 8; ++chip) {
    EXPECT_EQ(t.ChipAt(t.Coordinates(chip)), chip);
  }
}

TEST(Topology, AnUnknownSliceNamesTheNearest) {
  EXPECT_THAT(Layout("v5e-7"), HasSubstr("nearest: v5e-4, v5e-8"));
  EXPECT_THAT(Layout("v4-130"), HasSubstr("nearest: v4-128, v4-256"));
  EXPECT_THAT(Layout("v4-7"), HasSubstr("TensorCores"));
  EXPECT_THAT(Layout("v5e-512"), HasSubstr("nearest: v5e-256"));
}

TEST(Topology, AnUnknownChipSuggestsTheNearest) {
  EXPECT_THAT(Layout("v5litpod-8"), HasSubstr("did you mean"));
  EXPECT_EQ(ParseSlice("gpu-8").status().code(), absl::StatusCode::kNotFound);
}

TEST(Topology, MalformedNamesAreRefused) {
  for (const char* name : {"v5e-", "v5e-x", "v5e:", "v5e:2x", "v5e:0x4", "",
                           "0xv5e-8", "v5e:17x16", "v5e:2x4x1", "v5e--8"}) {
    EXPECT_FALSE(ParseSlice(name).ok()) << name;
  }
}

TEST(Topology, MoreCoresThanTheChipHasAreRefused) {
  SliceOptions three;
  three.cores_per_chip = 3;
  EXPECT_THAT(ParseSlice("v4-8", three).status().message(), HasSubstr("has 2"));
}

}  // namespace
}  // namespace ptxla::chips
