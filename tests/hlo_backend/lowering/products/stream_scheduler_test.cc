// Does the placement of an MXU stream keep the rules of the pipeline?
#include "hlo_backend/lowering/products/stream_scheduler.h"

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"

namespace ptxla::codegen {
namespace {

using isa::Opcode;

class StreamSchedulerTest : public ::testing::Test {
 protected:
  VInstr Matmul(int latch = kNone) {
    VInstr v;
    v.op = Opcode::kVmatmulBf16;
    v.a = lhs_.id;
    v.c = latch;
    return v;
  }
  VInstr Push() {
    VInstr v;
    v.op = Opcode::kVmatpushBf16;
    v.a = lhs_.id;
    v.b = 1;
    v.c = 0;
    return v;
  }
  VInstr Pop() {
    VInstr v;
    v.op = Opcode::kVpopMrfF32;
    v.dst = builder_.NewVec().id;
    return v;
  }

  const isa::MachineModel model_ =
      isa::FromChipSpec(*chips::ChipSpec::Load("v6e"));
  CodeBuilder builder_{model_};
  StreamScheduler scheduler_{builder_};
  Vec lhs_ = builder_.GlobalVec();
};

TEST_F(StreamSchedulerTest, AnInstructionIsPlacedWhereItIsWished) {
  EXPECT_EQ(scheduler_.Place(Push(), 40), 40);
}

TEST_F(StreamSchedulerTest, AUnitKeepsItsInterval) {
  const int64_t first = scheduler_.Place(Push(), 0);
  EXPECT_EQ(scheduler_.Place(Push(), 0) - first,
            model_.Interval(isa::IntervalKey::kPushBf16));
}

TEST_F(StreamSchedulerTest, APopWaitsForItsMatmulAndKeepsTheOrder) {
  scheduler_.Place(Push(), 0);
  const int64_t matmul = scheduler_.Place(Matmul(/*latch=*/1), 0);
  const int64_t latency = model_.Latency(isa::LatencyKey::kMatmulBf16);
  const int64_t first = scheduler_.Place(Pop(), 0);
  EXPECT_EQ(first, matmul + latency);
  EXPECT_GT(scheduler_.Place(Pop(), 0), first);
}

TEST_F(StreamSchedulerTest, ALatchFollowsItsPushesAndFreesTheStage) {
  const int64_t push = scheduler_.Place(Push(), 100);
  const int64_t latch = scheduler_.Place(Matmul(/*latch=*/1), 0);
  EXPECT_GE(latch, push + model_.Latency(isa::LatencyKey::kPushToLatch));
  EXPECT_GE(scheduler_.Place(Push(), 0), latch);
}

TEST_F(StreamSchedulerTest, ABundleHoldsNoMoreThanItsSlots) {
  const int loads = model_.Slots(isa::Slot::kLoad);
  int in_first = 0;
  for (int i = 0; i < loads + 1; ++i) {
    VInstr v;
    v.op = Opcode::kVld;
    v.dst = builder_.NewVec().id;
    v.imm = i * isa::kVregBytes;
    in_first += scheduler_.Place(v, 7) == 7;
  }
  EXPECT_EQ(in_first, loads);
}

TEST_F(StreamSchedulerTest, ALoadOfTheSameBytesFollowsTheStore) {
  VInstr store;
  store.op = Opcode::kVst;
  store.b = lhs_.id;
  const int64_t stored = scheduler_.Place(store, 30, /*memory_key=*/5);
  VInstr load;
  load.op = Opcode::kVld;
  load.dst = builder_.NewVec().id;
  EXPECT_GT(scheduler_.Place(load, 0, 5), stored);
}

// A row whose exponential waits leaves the EUP to the rows behind it.
TEST_F(StreamSchedulerTest, APairGoesInFrontOfALaterOne) {
  VInstr push;
  push.op = Opcode::kVrcpF32;
  push.a = lhs_.id;
  VInstr pop;
  pop.op = Opcode::kVpopEup;
  const auto place = [&](int64_t wish) {
    pop.dst = builder_.NewVec().id;
    return scheduler_.PlacePair(push, pop, wish).pop;
  };
  const int64_t latency = model_.Latency(isa::LatencyKey::kEupF32);
  EXPECT_EQ(place(40), 40 + latency);
  EXPECT_EQ(place(10), 10 + latency);
  // No second push in a bundle; pops stay in the order of pushes.
  EXPECT_EQ(place(40), 41 + latency);
  EXPECT_EQ(place(39), 39 + latency);
}

TEST_F(StreamSchedulerTest, WhatIsPlacedAloneFollowsThePairs) {
  VInstr push;
  push.op = Opcode::kVrcpF32;
  push.a = lhs_.id;
  VInstr pop;
  pop.op = Opcode::kVpopEup;
  pop.dst = builder_.NewVec().id;
  const int64_t popped = scheduler_.PlacePair(push, pop, 30).pop;
  EXPECT_GT(scheduler_.Place(push, 0), 30);
  pop.dst = builder_.NewVec().id;
  const int64_t alone = scheduler_.Place(pop, 0);
  EXPECT_GT(alone, popped);
  pop.dst = builder_.NewVec().id;
  EXPECT_GT(scheduler_.PlacePair(push, pop, 0).pop, alone);
}

}  // namespace
}  // namespace ptxla::codegen
