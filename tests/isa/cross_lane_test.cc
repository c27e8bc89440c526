// What moves or combines elements of different lanes and sublanes, against
// plain C++.
#include <algorithm>

#include "core_fixture.h"

namespace ptxla::isa {
namespace {

using testing::AsFloat;
using testing::At;
using testing::MakeFloats;
using testing::MakeWords;
using testing::Mixed;
using testing::RunBundles;
using testing::Words;

TEST(CrossLaneTest, LanesRotateBroadcastAndPermute) {
  const Words a = Mixed(11);
  const Words index =
      MakeWords([](int s, int l) { return static_cast<uint32_t>(l * 3 + s); });
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{s1 = smov 5 ; vrot.lane.xlu1 v1, 3} {vrot.lane.xlu2 v1, s1} "
                 "{vbcast.lane.xlu1 v1, 17} {vperm.xlu1 v1, v2} "
                 "{v10 = vpop.permute.xlu1} {v11 = vpop.permute.xlu2} "
                 "{v12 = vpop.permute.xlu1} {v13 = vpop.permute.xlu1}",
                 {a, index}, 4));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(out[0][At(s, l)], a[At(s, (l + 125) % 128)]);
      EXPECT_EQ(out[1][At(s, l)], a[At(s, (l + 123) % 128)]);
      EXPECT_EQ(out[2][At(s, l)], a[At(s, 17)]);
      EXPECT_EQ(out[3][At(s, l)], a[At(s, (l * 3 + s) % 128)]);
    }
  }
}

TEST(CrossLaneTest, LaneReductionsGiveEveryLaneTheResult) {
  const Words a =
      MakeFloats([](int s, int l) { return (l * 37 + s * 11) % 101 - 50.0f; });
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{vadd.xlane.f32.xlu0 v1} {vmax.xlane.f32.xlu0 v1} "
                 "{vmin.xlane.f32.xlu0 v1} {v10 = vpop.xlane.xlu0} "
                 "{v11 = vpop.xlane.xlu0} {v12 = vpop.xlane.xlu0}",
                 {a}, 3));
  for (int s = 0; s < 8; ++s) {
    float sum = 0, hi = -1e9f, lo = 1e9f;
    for (int l = 0; l < kLanes; ++l) {
      const float x = AsFloat(a[At(s, l)]);
      sum += x;
      hi = std::max(hi, x);
      lo = std::min(lo, x);
    }
    for (int l : {0, 64, 127}) {
      EXPECT_EQ(AsFloat(out[0][At(s, l)]), sum);
      EXPECT_EQ(AsFloat(out[1][At(s, l)]), hi);
      EXPECT_EQ(AsFloat(out[2][At(s, l)]), lo);
    }
  }
}

TEST(CrossLaneTest, TransposesTurnRowsIntoColumns) {
  const Words a = Mixed(21);
  const Words b = Mixed(22);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{vxpose.b32.start.xlu0 v1} {vxpose.b32.end.xlu0 v2, 2} "
                 "{vxpose.b16.start.end.xlu1 v1, 1} {nop 4} "
                 "{v10 = vpop.trf.xlu0} {v11 = vpop.trf.xlu0} "
                 "{v12 = vpop.trf.xlu1}",
                 {a, b}, 3));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < 16; ++l) {
      const Words& from = l < 8 ? a : b;
      EXPECT_EQ(out[0][At(s, l)], from[At(l % 8, s)]);
      EXPECT_EQ(out[1][At(s, l)], from[At(l % 8, 8 + s)]);
    }
    EXPECT_EQ(out[0][At(s, 16)], 0);
  }
  auto row16 = [](const Words& w, int r, int l) {
    return w[At(r / 2, l)] >> (r % 2 * 16) & 0xFFFF;
  };
  for (int r = 0; r < 16; ++r) {
    for (int l = 0; l < 16; ++l) {
      EXPECT_EQ(row16(out[2], r, l), row16(a, l, r));
    }
  }
}

TEST(CrossLaneTest, SublanesRotateBroadcastAndCombine) {
  const Words a = Mixed(31);
  const Words b = Mixed(32);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v10 = vrot.slane v1, 3} {v11 = vbcast.slane v1, 6} "
                 "{v12 = vcombine.low v1, v2} {v13 = vcombine.high v1, v2} "
                 "{v14 = vlaneseq} {v15 = vnot.u32 v1} {v16 = vclz.u32 v1} "
                 "{v17 = vpcnt.u32 v1}",
                 {a, b}, 8));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(out[0][At(s, l)], a[At((s + 5) % 8, l)]);
      EXPECT_EQ(out[1][At(s, l)], a[At(6, l)]);
      EXPECT_EQ(out[2][At(s, l)], s < 4 ? a[At(s, l)] : b[At(s - 4, l)]);
      EXPECT_EQ(out[3][At(s, l)], s < 4 ? a[At(s + 4, l)] : b[At(s, l)]);
      EXPECT_EQ(out[4][At(s, l)], At(s, l));
      EXPECT_EQ(out[5][At(s, l)], ~a[At(s, l)]);
    }
  }
  EXPECT_EQ(out[6][1], __builtin_clz(a[1]));
  EXPECT_EQ(out[7][1], __builtin_popcount(a[1]));
}

}  // namespace
}  // namespace ptxla::isa
