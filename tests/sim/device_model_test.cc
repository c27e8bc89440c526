// How long does a transfer occupy the memory that serves it?
#include "sim/core/device_model.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/dma_engine.h"
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

// Each core of v4 copies with its own engine, HBM is for whoever asks: a core
// that is alone copies no faster than beside the other (f16 adds of 3, 5 and 7
// tiles in CMEM take the time of 4, 6 and 8).
TEST(DeviceModelTest, ACoreCopiesOnTheChipAsFastAloneAsBesideAnother) {
  const chips::Slice slice = TestSlice("v4-8");
  const DeviceModel model(slice);
  ASSERT_EQ(model.cores, 2);
  const auto end_of = [&](Memory memory, int cores) {
    DmaEngine engine(model);
    for (int core = 0; core < cores; ++core) {
      DmaJob job;
      job.memory = memory;
      job.stream = core;
      job.work = 1 << 20;
      engine.Submit(0, job);
    }
    std::vector<int64_t> ended;
    engine.AdvanceTo(int64_t{1} << 30, &ended);
    return engine.DoneCycle(0);
  };
  EXPECT_EQ(end_of(Memory::kOnChip, 1), end_of(Memory::kOnChip, 2));
  EXPECT_LT(end_of(Memory::kHbm, 1), end_of(Memory::kHbm, 2));
}

}  // namespace
}  // namespace ptxla::sim
