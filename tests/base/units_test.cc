#include "base/units.h"

#include <type_traits>

#include "gtest/gtest.h"

namespace ptxla {
namespace {

template <class A, class B, class = void>
struct CanAdd : std::false_type {};
template <class A, class B>
struct CanAdd<A, B,
              std::void_t<decltype(std::declval<A>() + std::declval<B>())>>
    : std::true_type {};

static_assert(CanAdd<Cycles, Cycles>::value);
static_assert(!CanAdd<Cycles, Bytes>::value);
static_assert(!CanAdd<Cycles, Picoseconds>::value);
static_assert(!CanAdd<Cycles, int>::value);
static_assert(!std::is_convertible_v<int64_t, Cycles>);

TEST(UnitsTest, ATransferLastsUntilItsLastByteHasArrived) {
  EXPECT_EQ(Bytes(1000) / BytesPerSecond(1e12), Picoseconds(1000));
  EXPECT_EQ(Bytes(1) / BytesPerSecond(3e12), Picoseconds(1));
}

TEST(RatioTest, FloorGoesTowardsMinusInfinity) {
  EXPECT_EQ(FloorOfRatio(7, 4), 1);
  EXPECT_EQ(FloorOfRatio(8, 4), 2);
  EXPECT_EQ(FloorOfRatio(0, 4), 0);
  EXPECT_EQ(FloorOfRatio(-1, 4), -1);
  EXPECT_EQ(FloorOfRatio(-4, 4), -1);
  EXPECT_EQ(FloorOfRatio(-5, 4), -2);
}

TEST(RatioTest, CeilLog2IsTheFirstPowerThatSuffices) {
  EXPECT_EQ(CeilLog2(1), 0);
  EXPECT_EQ(CeilLog2(2), 1);
  EXPECT_EQ(CeilLog2(3), 2);
  EXPECT_EQ(CeilLog2(128), 7);
  EXPECT_EQ(CeilLog2(129), 8);
}

TEST(ClockTest, AnEdgeIsAtOrAfterTheGivenTime) {
  const Clock clock(Hertz(1.75e9));
  for (int64_t ps : {0, 1, 571, 572, 1000, 999999999}) {
    const Cycles c = clock.CyclesCeil(Picoseconds(ps));
    EXPECT_GE(clock.ToTime(c).count(), ps);
    if (c > Cycles(0)) {
      EXPECT_LT(clock.ToTime(c - Cycles(1)).count(), ps);
    }
  }
}

TEST(ClockTest, CyclesSurviveTheWayToTimeAndBack) {
  const Clock clock(Hertz(0.94e9));
  for (int64_t c : {0ll, 1ll, 7ll, 1000003ll, 940000000000ll}) {
    EXPECT_EQ(clock.CyclesCeil(clock.ToTime(Cycles(c))), Cycles(c));
  }
}

}  // namespace
}  // namespace ptxla
