// How long does a transfer occupy the memory that serves it?
#include "sim/core/device_model.h"

#include <gtest/gtest.h>

#include "tests/sim/test_programs.h"

namespace ptxla::sim {
namespace {

memory::Transfer Of(int64_t bytes) {
  memory::Transfer t;
  t.bytes = Bytes(bytes);
  return t;
}

// A descriptor's time is the least that HBM is occupied; copies on the chip
// have no such floor (f16 adds of 1 to 8 KiB in v4's CMEM).
TEST(DeviceModelTest, CopiesOnTheChipTakeTheTimeOfTheirBytesHoweverFew) {
  const chips::Slice slice = TestSlice("v4-8");
  const DeviceModel model(slice);
  const int64_t one = model.Work(Memory::kOnChip, Of(1 << 10));
  EXPECT_NEAR(model.Work(Memory::kOnChip, Of(8 << 10)), 8 * one, 8);
  EXPECT_LT(one, ToTicks(slice.chip.dma().descriptor, model.clock));
  EXPECT_EQ(model.Work(Memory::kHbm, Of(512)),
            model.Work(Memory::kHbm, Of(1 << 10)));
}

}  // namespace
}  // namespace ptxla::sim
