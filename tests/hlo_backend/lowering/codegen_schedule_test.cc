#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "tests/support/status_matchers.h"

namespace ptxla::codegen {
namespace {

using isa::Fifo;
using isa::LatencyKey;
using isa::MachineModel;
using isa::Opcode;
using isa::Slot;

// v6e as far as these tests look at it.
MachineModel Wide() {
  MachineModel m = MachineModel::Unit();
  m.SetSlots(Slot::kVector, 4);
  m.SetSlots(Slot::kLoad, 3);
  m.SetSlots(Slot::kStore, 2);
  m.SetSlots(Slot::kPop, 2);
  m.SetSlots(Slot::kScalar, 2);
  m.load_store_total = 4;
  m.SetLatency(LatencyKey::kValuF32, 2);
  m.SetLatency(LatencyKey::kEupF32, 13);
  m.SetLatency(LatencyKey::kXluSum, 137);
  m.SetInterval(isa::IntervalKey::kXlu, 4);
  return m;
}

IndexCounts OneStep() {
  IndexCounts indices;
  indices.fill(1);
  return indices;
}

int64_t CyclesOfBlock(const Code& code, const MachineModel& m) {
  BlockCache cache(m);
  auto cycles = CyclesOf(code, &cache, OneStep());
  EXPECT_OK(cycles.status());
  return cycles.ok() ? *cycles : -1;
}

// `n` copies of out[i] = a[i] + b[i].
Code Adds(const MachineModel& m, int n) {
  CodeBuilder b(m);
  const Sca pa = b.GlobalSca(), pb = b.GlobalSca(), po = b.GlobalSca();
  b.NewBlock("add");
  for (int i = 0; i < n; ++i) {
    const Vec x = b.Load(0, pa, i * 4096);
    const Vec y = b.Load(1, pb, i * 4096);
    b.Store(2, po, i * 4096, b.Binary(Opcode::kVaddF32, x, y));
  }
  return b.Finish();
}

TEST(ScheduleTest, AddsRunAtTheMemorySlotsPlusFillAndDrain) {
  const MachineModel m = Wide();
  // 3 x 64 accesses at 4 per cycle are 48 cycles; the first store waits for
  // load and add, the last stores drain.
  const int64_t cycles = CyclesOfBlock(Adds(m, 64), m);
  EXPECT_GE(cycles, 48);
  EXPECT_LE(cycles, 48 + 7);
}

TEST(ScheduleTest, FewRegistersCostTimeButNotCorrectness) {
  MachineModel m = Wide();
  m.vregs = 4;
  const int64_t cycles = CyclesOfBlock(Adds(m, 64), m);
  EXPECT_GT(cycles, 60);
  EXPECT_LT(cycles, 64 * 5);
}

TEST(ScheduleTest, ACodeThatNeedsMoreRegistersThanThereAreIsRefused) {
  MachineModel m = Wide();
  m.vregs = 3;
  CodeBuilder b(m);
  const Sca p = b.GlobalSca();
  std::vector<Vec> all;
  all.reserve(4);
  for (int i = 0; i < 4; ++i) all.push_back(b.Load(0, p, i * 4096));
  // Every value is read again in the reverse order: all live at once.
  Vec sum = b.Binary(Opcode::kVaddF32, all[3], all[2]);
  for (int i = 0; i < 4; ++i) {
    sum = b.Binary(Opcode::kVmulF32, sum, all[i]);
  }
  for (int i = 0; i < 4; ++i) b.Store(1, p, i * 4096, all[i]);
  b.Store(1, p, 5 * 4096, sum);
  const Code code = b.Finish();
  BlockCache cache(m);
  EXPECT_EQ(EmitCode(code, &cache).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ScheduleTest, IndependentFormulasOverlapInTheEupWhateverTheirOrder) {
  const MachineModel m = Wide();
  CodeBuilder b(m);
  const Sca p = b.GlobalSca();
  for (int i = 0; i < 16; ++i) {
    Vec x = b.Load(0, p, i * 4096);
    x = b.Eup(Opcode::kVpow2F32, x);
    x = b.Eup(Opcode::kVlog2F32, x);
    b.Store(1, p, i * 4096, x);
  }
  // One after the other would take 16 x 26.
  EXPECT_LE(CyclesOfBlock(b.Finish(), m), 32 + 13 + 13 + 4);
}

// Loaded at once, the factors would fill the registers before the first lanes
// are turned.
TEST(ScheduleTest, WhatMeetsAResultOfTheXluIsLoadedWhenThatComes) {
  MachineModel m = Wide();
  m.SetLatency(LatencyKey::kXluRotate, 127);
  m.vregs = 64;
  constexpr int kCopies = 64;
  CodeBuilder b(m);
  const Sca px = b.GlobalSca(), pf = b.GlobalSca(), po = b.GlobalSca();
  b.NewBlock("turn");
  for (int i = 0; i < kCopies; ++i) {
    const Vec x = b.Load(0, px, i * 4096);
    const Vec turned = b.RotateLanes(x, 64);
    Vec sum = x;
    for (int k = 0; k < 3; ++k) {
      const Vec factor = b.Load(1, pf, (3 * i + k) * 4096);
      sum = b.Binary(Opcode::kVaddF32, sum,
                     b.Binary(Opcode::kVmulF32, turned, factor));
    }
    b.Store(2, po, i * 4096, sum);
  }
  EXPECT_LT(CyclesOfBlock(b.Finish(), m), kCopies * 8);
}

// A row's value comes from the XLU, which is asked for it some rows ahead; what
// is loaded meanwhile leaves registers for it, and for the sums of rows before.
TEST(ScheduleTest, LoadsLeaveRegistersForWhatTheXluIsAskedFor) {
  MachineModel m = Wide();
  m.SetLatency(LatencyKey::kXluRotate, 127);
  m.vregs = 24;
  constexpr int kRows = 16, kColumns = 32, kAhead = 12;
  CodeBuilder b(m);
  const Sca px = b.GlobalSca(), pr = b.GlobalSca(), po = b.GlobalSca();
  b.NewBlock("rows");
  std::vector<Vec> turned, sums;
  for (int r = 0; r < kRows; ++r) {
    for (int k = static_cast<int>(turned.size());
         k < std::min(kRows, r + kAhead); ++k) {
      turned.push_back(b.RotateLanes(b.Load(1, pr, k * 4096), 64));
    }
    Vec sum;
    for (int c = 0; c < kColumns; ++c) {
      const Vec x = b.Load(0, px, (r * kColumns + c) * 4096);
      const Vec y = b.Binary(Opcode::kVmulF32, turned[r], x);
      sum = sum.valid() ? b.Binary(Opcode::kVaddF32, sum, y) : y;
    }
    sums.push_back(sum);
  }
  for (int r = 0; r < kRows; ++r) b.Store(2, po, r * 4096, sums[r]);
  // A cycle or two for each tile; one row after the other would take 7.
  EXPECT_LT(CyclesOfBlock(b.Finish(), m), kRows * kColumns * 2);
}

// Rows that wait for the XLU and add up into the same registers: the way
// through all additions is long, and says nothing of when a row is due.
TEST(ScheduleTest, RowsThatAddUpAreNotAsFarApartAsTheirSumIsLong) {
  MachineModel m = Wide();
  m.SetLatency(LatencyKey::kXluRotate, 127);
  m.vregs = 16;
  constexpr int kRows = 128, kColumns = 6;
  CodeBuilder b(m);
  const Sca px = b.GlobalSca(), pr = b.GlobalSca();
  std::vector<Vec> sums;
  sums.reserve(kColumns);
  for (int c = 0; c < kColumns; ++c) sums.push_back(b.GlobalVec());
  b.NewBlock("rows");
  for (int r = 0; r < kRows; ++r) {
    const Vec turned = b.RotateLanes(b.Load(1, pr, r * 4096), 64);
    for (int c = 0; c < kColumns; ++c) {
      const Vec x = b.Load(0, px, (r * kColumns + c) * 4096);
      b.BinaryTo(sums[c], Opcode::kVaddF32, sums[c],
                 b.Binary(Opcode::kVmulF32, turned, x));
    }
  }
  // 3 cycles a row of the vector slots, and the latency once.
  EXPECT_LT(CyclesOfBlock(b.Finish(), m), 128 + kRows * 4.5);
}

// With 16 registers a few copies of a formula with two functions of the EUP run
// side by side, further apart than the units would allow; one behind the other
// they would take over 40 cycles each.
TEST(ScheduleTest, CopiesThatDoNotFitTogetherAreFurtherApart) {
  MachineModel m = Wide();
  m.vregs = 16;
  constexpr int kCopies = 64;
  CodeBuilder b(m);
  const Sca px = b.GlobalSca(), py = b.GlobalSca(), po = b.GlobalSca();
  b.NewBlock("formula");
  for (int i = 0; i < kCopies; ++i) {
    const Vec x = b.Load(0, px, i * 4096);
    const Vec e = b.Eup(Opcode::kVpow2F32, x);
    Vec sum = b.Binary(Opcode::kVaddF32, e, x);
    for (int k = 0; k < 6; ++k) sum = b.Binary(Opcode::kVmulF32, sum, e);
    const Vec r = b.Eup(Opcode::kVrcpF32, sum);
    const Vec y = b.Load(1, py, i * 4096);
    const Vec w =
        b.Binary(Opcode::kVmulF32, x, b.Binary(Opcode::kVsubF32, e, r));
    b.Store(2, po, i * 8192, b.Binary(Opcode::kVmulF32, r, y));
    b.Store(2, po, i * 8192 + 4096, b.Binary(Opcode::kVaddF32, w, y));
  }
  EXPECT_LT(CyclesOfBlock(b.Finish(), m), kCopies * 12);
}

TEST(ScheduleTest, LoadsFromOneBankDoNotShareABundle) {
  MachineModel m = Wide();
  m.vmem_banks = 32;
  CodeBuilder b(m);
  const Sca p = b.GlobalSca();
  for (int i = 0; i < 12; ++i) {
    b.Store(1, p, i * 4096, b.Load(0, p, i * 16384));
  }
  EXPECT_GE(CyclesOfBlock(b.Finish(), m), 12);
}

// Results come out while the last rows go in: the last one a latency after the
// last push.
TEST(ScheduleTest, ATransposeIsDrainedALatencyAfterItsLastPush) {
  MachineModel m = Wide();
  m.SetLatency(LatencyKey::kXluTransposeB32, 124);
  const auto cycles = [&](int blocks) {
    CodeBuilder b(m);
    const Sca in = b.GlobalSca(), out = b.GlobalSca();
    b.NewBlock("transpose");
    for (int t = 0; t < blocks; ++t) {
      std::vector<Vec> rows;
      rows.reserve(16);
      for (int i = 0; i < 16; ++i) {
        rows.push_back(b.Load(0, in, (t * 16 + i) * 4096));
      }
      const std::vector<Vec> columns = b.Transpose(rows, 16);
      for (int i = 0; i < 16; ++i) {
        b.Store(1, out, (t * 16 + i) * 4096, columns[i]);
      }
    }
    return CyclesOfBlock(b.Finish(), m);
  };
  // 16 pushes every 4 cycles; a load before them, a pop and a store behind.
  EXPECT_NEAR(cycles(1), 15 * 4 + 124 + 3, 2);
  const int per_unit = 3;
  EXPECT_NEAR(cycles(per_unit * m.xlus), (16 * per_unit - 1) * 4 + 124 + 3, 6);
}

TEST(ScheduleTest, AStoreAndALaterLoadOfTheSamePlaceKeepTheirOrder) {
  const MachineModel m = Wide();
  CodeBuilder b(m);
  const Sca p = b.GlobalSca();
  const Vec x = b.Load(0, p, 0);
  b.Store(0, p, 4096, x);
  const Vec y = b.Load(0, p, 4096);
  b.Store(0, p, 8192, y);
  BlockCache cache(m);
  ASSERT_OK_AND_ASSIGN(const isa::Code code, EmitCode(b.Finish(), &cache));
  // load, store, load, store: one each cycle at best.
  EXPECT_EQ(code[0].block()->Cycles(), 4);
}

// A write that is under way would clobber whoever got its register meanwhile.
TEST(ScheduleTest, ARegisterThatNobodyReadsIsHeldUntilItsWriteLands) {
  MachineModel m = Wide();
  m.SetLatency(LatencyKey::kValuF32, 20);
  CodeBuilder b(m);
  const Sca p = b.GlobalSca();
  b.NewBlock("unread");
  const Vec x = b.Load(0, p, 0);
  b.Binary(Opcode::kVmulF32, x, x);  // unread
  for (int i = 1; i < 12; ++i) {
    b.Store(1, p, i * 4096, b.Load(0, p, i * 4096));
  }
  const VNode block = b.TakeBlock();
  for (const int vregs : {2, 3, 8}) {
    RegisterBudget budget;
    for (int r = 0; r < vregs; ++r) {
      budget.free[static_cast<int>(isa::RegClass::kVector)].push_back(r);
    }
    ASSERT_OK_AND_ASSIGN(
        const BlockSchedule s,
        ScheduleBlock(block.instrs, b.registers(), m, budget, block.mode));
    int64_t issued = -1;
    uint8_t reg = isa::kNoReg;
    int64_t others = 0;
    for (const auto& [cycle, i] : s.order) {
      const VInstr& v = block.instrs[i];
      if (v.op == Opcode::kVmulF32) {
        issued = cycle;
        reg = s.physical[v.dst - s.first_local];
      } else if (issued >= 0 && isa::IsVectorLoad(v.op)) {
        const bool same = s.physical[v.dst - s.first_local] == reg;
        EXPECT_TRUE(!same || cycle >= issued + 20) << vregs << " " << cycle;
        ++others;
      }
    }
    ASSERT_GE(issued, 0);
    EXPECT_GT(others, 0);
  }
}

TEST(BlockCacheTest, EqualBlocksAreScheduledOnce) {
  const MachineModel m = Wide();
  BlockCache cache(m);
  ASSERT_OK(EmitCode(Adds(m, 8), &cache).status());
  ASSERT_OK(EmitCode(Adds(m, 8), &cache).status());
  ASSERT_OK(EmitCode(Adds(m, 9), &cache).status());
  EXPECT_EQ(cache.size(), 2);
  EXPECT_EQ(cache.hits(), 1);
}

TEST(BlockCacheTest, ABlockWithoutRoomIsNotTriedAgain) {
  MachineModel m = Wide();
  m.vregs = 1;
  BlockCache cache(m);
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(EmitCode(Adds(m, 8), &cache).status().code(),
              absl::StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(cache.hits(), 1);
}

TEST(BlockCacheTest, ThreadsHaveTheSameBlocks) {
  const MachineModel m = Wide();
  BlockCache cache(m);
  std::vector<int64_t> cycles(64, -1);
  ParallelFor(64, 4, [&](int, int i) {
    cycles[i] = CyclesOf(Adds(m, 1 + i % 8), &cache, OneStep()).value();
  });
  EXPECT_EQ(cache.size(), 8);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(cycles[i], CyclesOfBlock(Adds(m, 1 + i % 8), m)) << i;
  }
}

}  // namespace
}  // namespace ptxla::codegen
