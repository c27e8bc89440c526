#include "isa/timing.h"

#include <random>

#include "core_fixture.h"

namespace ptxla::isa {
namespace {

// Random nests of loops, conditions and blocks of scalar instructions.
Code RandomNest(std::mt19937* rng, int depth, int dims) {
  Code code;
  const int n = 1 + (*rng)() % 3;
  for (int i = 0; i < n; ++i) {
    const int kind = depth == 0 ? 0 : (*rng)() % 3;
    if (kind == 1) {
      Loop loop;
      loop.trips = (*rng)() % 4;
      loop.body = RandomNest(rng, depth - 1, dims);
      code.push_back(std::move(loop));
    } else if (kind == 2 && dims > 0) {
      When when;
      when.dim = (*rng)() % dims;
      when.kind = static_cast<When::Kind>((*rng)() % 4);
      when.body = RandomNest(rng, depth - 1, dims);
      code.push_back(std::move(when));
    } else {
      Block block;
      const int bundles = (*rng)() % 4;
      for (int b = 0; b < bundles; ++b) {
        if ((*rng)() % 3 == 0) {
          block.AddNop(1 + (*rng)() % 5);
          continue;
        }
        Instr mov{Opcode::kSmov};
        mov.dst = 1;
        Instr signal{Opcode::kSemAdd};
        signal.imm = 0;
        signal.imm2 = 0;
        (*rng)() % 2 == 0 ? block.Add({mov}) : block.Add({mov, signal});
      }
      code.push_back(std::move(block));
    }
  }
  return code;
}

// Records at which cycles events happen.
class Recorder : public DmaClock {
 public:
  void OnStart(const DmaEvent&, const Box&, int64_t now) override {
    times.push_back(now);
  }
  std::vector<int64_t> times;
};

TEST(TimingTest, EqualsTheInterpreterOnRandomNests) {
  std::mt19937 rng(5);
  MachineModel m = testing::Wide();
  for (int round = 0; round < 200; ++round) {
    m.branch_delay_slots = rng() % 5;
    Kernel k;
    const int dims = rng() % 3;
    for (int d = 0; d < dims; ++d) k.grid.push_back(1 + rng() % 4);
    k.megacore_dim = dims > 0 && rng() % 2 == 0 ? rng() % dims : -1;
    k.num_semaphores = 1;
    k.entry = RandomNest(&rng, 2, 0);
    k.step = RandomNest(&rng, 3, dims);
    if (k.megacore_dim >= 0) {
      When own;
      own.dim = kCoreShare;
      own.kind = static_cast<When::Kind>(rng() % 4);
      own.body = RandomNest(&rng, 2, dims);
      k.step.push_back(std::move(own));
    }
    k.exit = RandomNest(&rng, 1, 0);
    const int cores = k.megacore_dim < 0 ? 1 : 2;
    for (int core = 0; core < cores; ++core) {
      const KernelTiming timing = TimeKernel(k, m);
      EXPECT_EQ(CyclesOfFirstClass(k, m), timing.classes[0].profile.cycles);
      Core interpreter(m);
      Recorder recorder;
      ASSERT_OK_AND_ASSIGN(const int64_t cycles,
                           interpreter.Run(k, {}, core, cores, &recorder));
      EXPECT_EQ(timing.UnstalledCycles(k, core, cores), cycles);
      // Events at their offsets, step by step.
      std::vector<int64_t> times;
      int64_t now = 0;
      auto add = [&](const Profile& p) {
        ForEachEvent(p.events, [&](int64_t offset, const DmaEvent&) {
          times.push_back(now + offset);
        });
        now += p.cycles;
      };
      GridWalk walk(k, core, cores);
      if (walk.num_steps() > 0) {
        add(timing.entry);
        for (int64_t s = 0; s < walk.num_steps(); ++s) {
          walk.Seek(s);
          add(timing.classes[timing.ClassOf(StepFlags(walk))].profile);
        }
        add(timing.exit);
      }
      EXPECT_EQ(times, recorder.times);
    }
  }
}

TEST(TimingTest, CostsDoNotGrowWithTripCounts) {
  ASSERT_OK_AND_ASSIGN(
      const Code code,
      ParseCode("loop s1 step 1 times 1000000000 { loop s2 step 1 times 1000 { "
                "block \"b\" { { v1 = vmov v2 ; vrot.lane.xlu0 v1, 1 } "
                "{ nop 3 } } } }"));
  MachineModel m = testing::Wide();
  m.SetInterval(IntervalKey::kXlu, 4);
  const Profile p = ProfileCode(code, m);
  EXPECT_EQ(p.cycles, 4000000000000);
  EXPECT_EQ(p.bundles, 1000000000000);
  EXPECT_EQ(p.slot_uses[static_cast<int>(Slot::kVector)], 1000000000000);
  EXPECT_EQ(p.unit_busy[static_cast<int>(ExecUnit::kXlu)], 4000000000000);
}

TEST(TimingTest, ShortLoopsPayTheBranchDelay) {
  ASSERT_OK_AND_ASSIGN(
      const Code code,
      ParseCode("loop s1 step 1 times 10 { block \"\" { { v1 = vmov v2 } } }"));
  MachineModel m = MachineModel::Unit();
  EXPECT_EQ(ProfileCode(code, m).cycles, 10);
  m.branch_delay_slots = 4;
  EXPECT_EQ(ProfileCode(code, m).cycles, 50);
}

}  // namespace
}  // namespace ptxla::isa
