// Do the copies that a kernel starts by itself take their time?
#include "hlo_backend/lowering/custom_calls/own_copies.h"

#include <cstdlib>
#include <string>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "hlo_backend/lowering/custom_calls/block_bytes.h"
#include "hlo_backend/lowering/custom_calls/pallas_call.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::ptxla::testing::ReadPallasCase;

constexpr OwnCopy kMiB{1 << 20, 1 << 20, 1 << 20, /*reads=*/true, false};

class OwnCopiesTest : public ::testing::Test {
 protected:
  OwnCopiesTest()
      : chip_(*chips::ChipSpec::Load("v5e")),
        hbm_(chip_),
        copies_(hbm_, chip_.ici(), chip_.core().clock, /*sharers=*/1) {}

  PallasTime Time(const std::string& name, const hlo::Shape& in) {
    const mosaic::PallasKernel kernel = *ReadPallasCase(name);
    const isa::MachineModel model = isa::FromChipSpec(chip_);
    codegen::BlockCache cache(model);
    auto time = TimeOf({chip_, model, &cache}, kernel, {&in, &in}, 1);
    EXPECT_OK(time.status());
    return time.ok() ? *time : PallasTime();
  }

  const chips::ChipSpec chip_;
  const memory::HbmModel hbm_;
  OwnCopies copies_;
};

TEST_F(OwnCopiesTest, AWaitLastsUntilTheBytesHaveCome) {
  copies_.Start({{1, 0}}, kMiB, 0);
  const int64_t end = copies_.Wait({1, 0}, kMiB.amount, 0);
  EXPECT_EQ(end,
            chip_.core()
                .clock.CyclesCeil(hbm_.Busy({Bytes(1 << 20)}) + hbm_.latency())
                .count());
  EXPECT_EQ(copies_.Wait({1, 0}, kMiB.amount, end + 5), end + 5);
}

TEST_F(OwnCopiesTest, TheMemoryServesThemOneAfterAnother) {
  copies_.Start({{1, 0}}, kMiB, 0);
  copies_.Start({{1, 1}}, kMiB, 0);
  const int64_t second = copies_.Wait({1, 1}, kMiB.amount, 0);
  const int64_t first = copies_.Wait({1, 0}, kMiB.amount, 0);
  EXPECT_NEAR(
      static_cast<double>(second - first),
      static_cast<double>(
          chip_.core().clock.CyclesCeil(hbm_.Busy({Bytes(1 << 20)})).count()),
      1.0);
}

// A window's block stands in line with them.
TEST_F(OwnCopiesTest, WhatWindowsMoveIsServedInLine) {
  const Picoseconds busy = hbm_.Busy({Bytes(1 << 20)});
  EXPECT_EQ(copies_.Serve(busy, Picoseconds()), busy + hbm_.latency());
  copies_.Start({{1, 0}}, kMiB, 0);
  EXPECT_EQ(
      copies_.Wait({1, 0}, kMiB.amount, 0),
      chip_.core().clock.CyclesCeil(busy + busy + hbm_.latency()).count());
}

// 4 MiB to the next device of a ring: a link is slower than the memory.
TEST_F(OwnCopiesTest, WhatGoesToAnotherDevicePassesALink) {
  const hlo::Shape part =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kF32, {1024, 1024});
  const PallasTime t = Time("send_right", part);
  const Picoseconds link =
      Bytes(4 << 20) / chip_.ici().effective_link() + chip_.ici().hop;
  const Picoseconds took = chip_.core().clock.ToTime(Cycles(t.cycles));
  EXPECT_GE(took, link);
  EXPECT_LT(took.count(), link.count() * 1.05);
}

// 16 blocks of 1 MiB: at once, each pays the latency of the memory and what is
// computed; ahead, the bytes alone remain.
TEST_F(OwnCopiesTest, CopiesAheadAreHiddenAndOthersAreNot) {
  const hlo::Shape in =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kF32, {16, 256, 1024});
  const PallasTime at_once = Time("copies_at_once", in);
  const PallasTime ahead = Time("copies_ahead", in);
  EXPECT_EQ(at_once.hbm_bytes, ahead.hbm_bytes);
  const int64_t latency = chip_.core().clock.CyclesCeil(hbm_.latency()).count();
  EXPECT_GT(at_once.cycles, ahead.cycles + 15 * latency);
}

// 16 blocks with and without looking ahead differ by less than a branch each.
TEST_F(OwnCopiesTest, AStartUnderAConditionNeedsNoBranch) {
  const isa::MachineModel model = isa::FromChipSpec(chip_);
  const auto bundles = [&](const std::string& name) {
    const mosaic::PallasKernel kernel = *ReadPallasCase(name);
    StepWalker walker(kernel, model);
    auto step = walker.At({});
    EXPECT_OK(step.status());
    return step.ok() ? step->bundles : 0;
  };
  const int64_t branch = 1 + model.branch_delay_slots;
  EXPECT_LT(std::abs(bundles("copies_ahead") - bundles("copies_at_once")),
            16 * branch);
}

// The descriptors of 16 copies are made beside the code that adds blocks: a
// step takes its straight pieces, a wait and a branch each time round.
TEST_F(OwnCopiesTest, StartsAreHiddenByWhatIsComputed) {
  const mosaic::PallasKernel kernel = *ReadPallasCase("copies_at_once");
  const isa::MachineModel model = isa::FromChipSpec(chip_);
  ElementwiseCosts costs(model);
  const auto straight = [&](const std::vector<mosaic::Operation>& operations) {
    BlockSchedule piece(kernel.module, model, &costs);
    int64_t bundles = 0;
    for (const mosaic::Operation& op : operations) {
      if (op.name == "tpu.enqueue_dma" || op.name == "tpu.wait_dma2") {
        bundles += piece.Finish();
      } else if (op.regions.empty()) {
        piece.Add(op);
      }
    }
    return bundles + piece.Finish();
  };
  int64_t expected = straight(kernel.body().operations);
  for (const mosaic::Operation& op : kernel.body().operations) {
    if (op.name != "scf.while") continue;
    const int64_t body = straight(op.regions[1].blocks[0].operations);
    expected += 16 * (body + 1 + 1 + model.branch_delay_slots);
  }
  StepWalker walker(kernel, model);
  ASSERT_OK_AND_ASSIGN(const StepTime step, walker.At({}));
  EXPECT_EQ(step.bundles, expected);
}

// Lengths that are data: as many pages as the table has.
TEST_F(OwnCopiesTest, ALoopOverPagesGoesOverAllThatThereAre) {
  const hlo::Shape pages =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kF32, {32, 16, 128});
  const PallasTime t = Time("sum_of_pages", pages);
  EXPECT_FALSE(t.assumed);
  const int64_t page = 16 * 128 * 4;
  EXPECT_EQ(t.hbm_bytes, 32 * page + 4 * page);
}

TEST(BlockBytesTest, AnArrayOfOneRowHasTilesOfOneRow) {
  EXPECT_EQ(BytesOfBlock(32, {1, 1, 1024}, {8192, 1, 1024}).bytes, 4096);
  EXPECT_EQ(BytesOfBlock(32, {1, 1024}, {8192, 1024}).bytes, 8 * 4096);
}

TEST(BlockBytesTest, FourBitsAreHalfAByte) {
  EXPECT_EQ(BytesOfBlock(4, {512, 512}, {2048, 2048}).bytes, 512 * 512 / 2);
}

TEST(BlockBytesTest, APartOfTheLanesLiesInRunsOfItsTiles) {
  EXPECT_EQ(BytesOfBlock(16, {512, 128}, {2048, 2048}).run, 16 * 128 * 2);
  EXPECT_EQ(BytesOfBlock(16, {512, 2048}, {2048, 2048}).run, 512 * 2048 * 2);
}

}  // namespace
}  // namespace ptxla::lowering
