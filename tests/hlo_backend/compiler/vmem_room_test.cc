#include "hlo_backend/compiler/vmem_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxla::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VmemRoomTest, AllStayWhereThereIsRoom) {
  EXPECT_THAT(LeastWorth({{0, 5, 60, 2}, {2, 9, 40, 2}}, 100), IsEmpty());
}

TEST(VmemRoomTest, LivesThatDoNotMeetShareTheRoom) {
  EXPECT_THAT(LeastWorth({{0, 4, 100, 2}, {5, 9, 100, 2}}, 100), IsEmpty());
}

// Small ones are not sent away for a large one that is rarely used.
TEST(VmemRoomTest, WhatIsUsedLeastInTheLongestTimeLeaves) {
  EXPECT_THAT(LeastWorth({{0, 99, 90, 2}, {10, 12, 20, 2}, {50, 52, 20, 2}},
                         /*room=*/100),
              ElementsAre(0));
}

TEST(VmemRoomTest, OfEqualOnesTheLaterLeaves) {
  EXPECT_THAT(LeastWorth({{0, 9, 80, 2}, {0, 9, 80, 2}}, 100), ElementsAre(1));
}

// At positions 4 and 5 a kernel has 30 bytes.
TEST(VmemRoomTest, WhatIsTakenCountsWhileItIs) {
  const std::vector<int64_t> taken = {0, 0, 0, 0, 30, 30};
  EXPECT_THAT(LeastWorth({{0, 3, 80, 2}, {6, 9, 80, 2}}, 100, taken),
              IsEmpty());
  EXPECT_THAT(LeastWorth({{0, 4, 80, 2}, {6, 9, 80, 2}}, 100, taken),
              ElementsAre(0));
}

}  // namespace
}  // namespace ptxla::hlo
