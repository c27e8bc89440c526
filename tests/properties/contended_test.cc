// Where several things draw from one HBM: copies and prefetches beside kernels,
// collectives beside kernels, the two cores of a megacore device. There kernel
// treats the memory as a fluid, and is held to 3 % of tile, which sees every
// transfer.
#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/properties/compiled_program.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

struct Contended {
  double kernel = 0, tile = 0;
  int64_t overlap_ps = 0;
};

// Time for which something else draws from HBM while a kernel does.
int64_t Overlap(const record::DeviceTrace& trace) {
  int64_t overlap = 0;
  for (const record::OpTrace& op : trace.op()) {
    if (op.kernel().empty() || op.bytes() == 0) continue;
    const auto add = [&](int64_t start, int64_t end) {
      overlap += std::max<int64_t>(
          0, std::min(end, op.end_ps()) - std::max(start, op.start_ps()));
    };
    for (const record::TransferTrace& t : trace.transfer()) {
      if (t.resource() == record::TransferTrace::HBM && t.name() != op.name()) {
        add(t.start_ps(), t.end_ps());
      }
    }
    for (const record::CollectiveTrace& c : trace.collective()) {
      add(c.start_ps(), c.end_ps());
    }
  }
  return overlap;
}

Contended Measure(const isa::Program& program, const chips::Slice& slice) {
  Contended c;
  for (Fidelity f : {Fidelity::kKernel, Fidelity::kTile}) {
    RunOptions options;
    options.fidelity = f;
    const auto trace = Run(program, slice, options);
    EXPECT_OK(trace.status());
    if (!trace.ok()) continue;
    (f == Fidelity::kKernel ? c.kernel : c.tile) =
        static_cast<double>(trace->total_cycles());
    if (f == Fidelity::kTile) c.overlap_ps = Overlap(*trace);
    options.memoize = false;
    EXPECT_EQ(Run(program, slice, options)->total_cycles(),
              trace->total_cycles())
        << "memo off at " << sim::FidelityName(f);
  }
  return c;
}

class Contention : public ::testing::TestWithParam<const char*> {
 protected:
  void Hold(const isa::Program& p, int round) {
    const Contended c = Measure(p, slice_);
    EXPECT_GT(c.overlap_ps, 0) << "nothing is contended in round " << round;
    EXPECT_NEAR(c.kernel / c.tile, 1, 0.03) << "round " << round;
    const double error = std::abs(c.kernel / c.tile - 1);
    worst_ = std::max(worst_, error);
    sum_ += error;
    ++rounds_;
  }
  void TearDown() override {
    RecordProperty("worst", std::to_string(worst_));
    RecordProperty("mean", std::to_string(sum_ / std::max(1, rounds_)));
  }
  // A kernel of a few microseconds or more: those that compilers overlap.
  sim::StreamKernel Kernel() {
    sim::StreamKernel s = sim::RandomStream(&random_);
    s.grid = {static_cast<int64_t>(random_() % 2 == 0 ? 8 + random_() % 64
                                                      : 65 + random_() % 200)};
    s.moves_with = {};
    s.block_bytes = 4096LL * (4 + random_() % 128);
    return s;
  }
  int cores() const { return slice_.topology.cores_per_device(); }
  void AddKernel(isa::Program* p) {
    sim::StreamKernel s = Kernel();
    s.parallel = cores() > 1;
    sim::AddKernel(p, sim::MakeStreamKernel(s), s.parallel ? cores() : 1);
  }

  const chips::Slice slice_ = sim::TestSlice(GetParam());
  std::mt19937 random_{71};
  double worst_ = 0, sum_ = 0;
  int rounds_ = 0;
};

// Up to four prefetches at once, over one to three kernels.
TEST_P(Contention, PrefetchesBesideKernels) {
  for (int round = 0; round < 60; ++round) {
    isa::Program p;
    const int copies = 1 + static_cast<int>(random_() % 4);
    for (int c = 0; c < copies; ++c) {
      sim::AddCopyStart(&p, c, 1 + random_() % (8 << 20));
    }
    const int kernels = 1 + static_cast<int>(random_() % 3);
    for (int k = 0; k < kernels; ++k) AddKernel(&p);
    for (int c = 0; c < copies; ++c) sim::AddCopyDone(&p, c);
    Hold(p, round);
  }
}

// Cores that stop drawing at different times.
TEST_P(Contention, CoresOfUnequalWork) {
  if (cores() == 1) GTEST_SKIP() << "one core a device";
  for (int round = 0; round < 60; ++round) {
    sim::StreamKernel s = Kernel();
    s.grid[0] |= 1;  // one core has a step more
    s.parallel = true;
    isa::Program p;
    sim::AddCopyStart(&p, 1, 1 + random_() % (8 << 20));
    sim::AddKernel(&p, sim::MakeStreamKernel(s), cores());
    sim::AddCopyDone(&p, 1);
    Hold(p, round);
  }
}

TEST_P(Contention, ACollectiveBesideKernelsAndPrefetches) {
  if (slice_.topology.num_devices() == 1) GTEST_SKIP() << "no links";
  for (int round = 0; round < 60; ++round) {
    isa::Program p;
    p.num_partitions = slice_.topology.num_devices();
    isa::CollectiveStart start;
    start.id = 9;
    start.kind = isa::CollectiveKind::kAllReduce;
    start.reduction = isa::Reduction::kSum;
    start.dtype = "f32";
    start.bytes = 4096LL * (64 + random_() % 8192);
    p.schedule.push_back({sim::Info("all-reduce", "all-reduce-start"), start});
    sim::AddCopyStart(&p, 1,
                      random_() % 2 == 0 ? 512 : 1 + random_() % (8 << 20));
    AddKernel(&p);
    sim::AddCopyDone(&p, 1);
    AddKernel(&p);
    isa::CollectiveDone done;
    done.id = 9;
    p.schedule.push_back(
        {sim::Info("all-reduce-done", "all-reduce-done"), done});
    Hold(p, round);
  }
}

INSTANTIATE_TEST_SUITE_P(Slices, Contention,
                         ::testing::Values("v5e-1", "v6e-1", "v5e-8", "v4-16",
                                           "v5p:2x2x1", "tpu7x-8"));

// A module that says itself what overlaps: a prefetch into VMEM and the
// gradients' all-reduce, each beside a kernel.
TEST(CompiledContention, ScheduledPrefetch) {
  constexpr char kText[] = R"(HloModule prefetch, is_scheduled=true
ENTRY e {
  p = f32[2048,1024]{1,0:T(8,128)} parameter(0)
  q = f32[4096,2048]{1,0:T(8,128)} parameter(1)
  s = (f32[2048,1024]{1,0:T(8,128)S(1)}, f32[2048,1024]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(p)
  a = f32[4096,2048]{1,0:T(8,128)} tanh(q)
  d = f32[2048,1024]{1,0:T(8,128)S(1)} copy-done(s)
  b = f32[2048,1024]{1,0:T(8,128)} tanh(d)
  ROOT r = (f32[4096,2048]{1,0:T(8,128)}, f32[2048,1024]{1,0:T(8,128)}) tuple(a, b)
})";
  for (const char* chip : {"v5e", "v6e", "tpu7x", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(kText, chip));
    const Contended c = Measure(p.program, p.slice);
    EXPECT_GT(c.overlap_ps, 0) << chip;
    EXPECT_NEAR(c.kernel / c.tile, 1, 0.03) << chip;
  }
}

TEST(CompiledContention, ScheduledAllReduce) {
  constexpr char kText[] =
      R"(HloModule reduce, is_scheduled=true, num_partitions=8
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
ENTRY e {
  p = f32[2048,1024]{1,0:T(8,128)} parameter(0)
  q = f32[4096,2048]{1,0:T(8,128)} parameter(1)
  s = f32[2048,1024]{1,0:T(8,128)} all-reduce-start(p), replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, channel_id=1, to_apply=add
  a = f32[4096,2048]{1,0:T(8,128)} tanh(q)
  d = f32[2048,1024]{1,0:T(8,128)} all-reduce-done(s)
  ROOT r = (f32[4096,2048]{1,0:T(8,128)}, f32[2048,1024]{1,0:T(8,128)}) tuple(a, d)
})";
  for (const char* slice : {"v5e-8", "v6e-8"}) {
    ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(kText, slice));
    const Contended c = Measure(p.program, p.slice);
    EXPECT_GT(c.overlap_ps, 0) << slice;
    EXPECT_NEAR(c.kernel / c.tile, 1, 0.03) << slice;
  }
}

}  // namespace
}  // namespace ptxla::testing
