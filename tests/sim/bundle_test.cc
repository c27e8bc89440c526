// Fidelity bundle: bundles executed on data, at the cycles of tile.
#include <cstring>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/core/program_data.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"
#include "tests/support/status_matchers.h"

namespace ptxla::sim {
namespace {

using ::testing::HasSubstr;

int64_t Cycles(const isa::Program& program, const chips::Slice& slice,
               Fidelity fidelity, Engine engine = Engine::kSystemC,
               ProgramData* data = nullptr) {
  SimOptions options;
  options.fidelity = fidelity;
  options.engine = engine;
  options.data = data;
  absl::StatusOr<record::DeviceTrace> trace = Simulate(program, slice, options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return -1;
  const record::BoundBreakdown& b = trace->bound();
  EXPECT_EQ(b.mxu_ps() + b.vpu_ps() + b.hbm_ps() + b.ici_ps() + b.dcn_ps() +
                b.overhead_ps() + b.host_ps(),
            trace->total_ps());
  return trace->total_cycles();
}

// Gives buffers places that do not overlap.
void Place(isa::Program* p) {
  int64_t next[5] = {};
  next[static_cast<int>(isa::Space::kVmem)] = 8 << 20;
  for (isa::Buffer& b : p->buffers) {
    int64_t& at = next[static_cast<int>(b.space)];
    b.offset = at;
    at += (b.bytes + 4095) / 4096 * 4096;
  }
}

TEST(Bundle, TakesTheCyclesOfTile) {
  std::mt19937 random(53);
  for (const char* name : {"v5e-1", "v6e-1", "v3-8"}) {
    const chips::Slice slice = TestSlice(name);
    for (int round = 0; round < 8; ++round) {
      isa::Program p;
      for (int k = 0; k < 2; ++k) {
        StreamKernel s = RandomStream(&random);
        s.block_bytes = 4096LL * (1 + random() % 16);
        s.ragged_bytes = 0;
        s.vadds %= 10;
        s.vadds %= 10;
        AddCopyStart(&p, k, 1 + random() % 300000);
        AddKernel(&p, MakeStreamKernel(s));
        AddCopyDone(&p, k);
      }
      Place(&p);
      const int64_t tile = Cycles(p, slice, Fidelity::kTile);
      for (Engine engine : {Engine::kSystemC, Engine::kPlain}) {
        EXPECT_EQ(Cycles(p, slice, Fidelity::kBundle, engine), tile)
            << name << " round " << round;
      }
    }
  }
}

TEST(Bundle, TakesTheCyclesOfTileOnTwoCores) {
  std::mt19937 random(59);
  const chips::Slice slice = TestSlice("v5p:1x1x1");
  for (int round = 0; round < 8; ++round) {
    StreamKernel s = RandomStream(&random);
    s.block_bytes = 4096LL * (1 + random() % 16);
    s.ragged_bytes = 0;
    s.vadds %= 10;
    s.parallel = true;
    isa::Program p;
    AddKernel(&p, MakeStreamKernel(s), 2);
    Place(&p);
    EXPECT_EQ(Cycles(p, slice, Fidelity::kBundle),
              Cycles(p, slice, Fidelity::kTile))
        << "round " << round;
  }
}

isa::Instr Op(isa::Opcode op, int dst, int a, int b) {
  isa::Instr i;
  i.op = op;
  i.dst = static_cast<uint8_t>(dst);
  i.a = static_cast<uint8_t>(a);
  i.b = static_cast<uint8_t>(b);
  return i;
}

// out = in + in, one register of 1024 floats per grid step.
isa::Program DoubleProgram(int steps) {
  StreamKernel s;
  s.grid = {steps};
  s.block_bytes = 4096;
  s.compute = 0;
  isa::Kernel k = MakeStreamKernel(s);
  isa::Block* block = k.step[0].block();
  isa::Block with;
  // wait in, wait out, start in | swin, vld, vadd, vst | start out
  const int n = block->NumBundles();
  for (int i = 0; i + 1 < n; ++i) with.Add(block->Bundle(i));
  isa::Instr swin;
  swin.op = isa::Opcode::kSwin;
  swin.dst = 1;
  swin.imm = 0;
  with.Add({swin});
  swin.dst = 2;
  swin.imm = 1;
  with.Add({swin});
  with.AddNop(4);
  with.Add({Op(isa::Opcode::kVld, 5, 1, isa::kNoReg)});
  with.AddNop(8);
  with.Add({Op(isa::Opcode::kVaddF32, 6, 5, 5)});
  with.AddNop(8);
  with.Add({Op(isa::Opcode::kVst, isa::kNoReg, 2, 6)});
  with.AddNop(4);
  with.Add(block->Bundle(n - 1));
  *block = with;
  isa::Program p;
  AddKernel(&p, k);
  Place(&p);
  for (int b = 0; b < 2; ++b) {
    isa::Leaf leaf;
    leaf.name = b == 0 ? "p0" : "{}";
    leaf.shape = "f32[1024n]";
    leaf.layout.dims = {steps * 1024};
    leaf.where = {b, 0};
    (b == 0 ? p.parameters : p.outputs).push_back(leaf);
  }
  return p;
}

TEST(Bundle, ComputesOnTheData) {
  const int steps = 5;
  const isa::Program p = DoubleProgram(steps);
  const chips::Slice slice = TestSlice("v6e-1");
  ProgramData data(p, slice);
  std::vector<float> in(steps * 1024);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) - 7;
  std::vector<uint8_t> bytes(in.size() * 4);
  std::memcpy(bytes.data(), in.data(), bytes.size());
  ASSERT_TRUE(data.SetParameter(0, bytes).ok());
  EXPECT_EQ(Cycles(p, slice, Fidelity::kBundle, Engine::kSystemC, &data),
            Cycles(p, slice, Fidelity::kTile));
  absl::StatusOr<std::vector<uint8_t>> out = data.Output(0);
  ASSERT_TRUE(out.ok()) << out.status();
  std::vector<float> result(in.size());
  ASSERT_EQ(out->size(), bytes.size());
  std::memcpy(result.data(), out->data(), out->size());
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(result[i], 2 * in[i]) << i;
}

TEST(Bundle, CopiesMoveTheirBytes) {
  isa::Program p;
  AddCopyStart(&p, 1, 1000);
  AddCopyDone(&p, 1);
  Place(&p);
  const chips::Slice slice = TestSlice("v6e-1");
  ProgramData data(p, slice);
  absl::Span<uint8_t> from = data.At({0, 0}, 1000);
  for (int i = 0; i < 1000; ++i) from[i] = static_cast<uint8_t>(i * 7);
  Cycles(p, slice, Fidelity::kBundle, Engine::kPlain, &data);
  const absl::Span<uint8_t> to = data.At({1, 0}, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(to[i], static_cast<uint8_t>(i * 7));
}

TEST(Bundle, APredicateOnDataEndsALoop) {
  isa::Program p;
  isa::While loop;
  loop.trips = 100;  // an assumption that the data contradict
  const int flag = AddBuffer(&p, 1, isa::Space::kHbm);
  loop.predicate = {flag, 0};
  AddKernel(&p, MakeStreamKernel({}), 1, &loop.body);
  p.schedule.push_back({Info("while", "while"), loop});
  Place(&p);
  const chips::Slice slice = TestSlice("v6e-1");
  ProgramData data(p, slice);  // false from the start
  EXPECT_LT(Cycles(p, slice, Fidelity::kBundle, Engine::kPlain, &data),
            Cycles(p, slice, Fidelity::kTile) / 50);
}

// The values of other devices are not there: where they are asked for, that is
// said before anything runs. Time does not ask.
TEST(Bundle, CollectivesOverSeveralDevicesHaveATimeAndNoValues) {
  isa::Program p;
  p.num_partitions = 4;
  isa::While loop;
  loop.trips = 2;
  isa::CollectiveStart start;
  start.bytes = 64;
  isa::CollectiveDone done;
  loop.body.push_back({Info("all-reduce.3", "all-reduce-start"), start});
  loop.body.push_back({Info("all-reduce.4", "all-reduce-done"), done});
  p.schedule.push_back({Info("while", "while"), loop});
  const chips::Slice slice = TestSlice("v5e-4");
  EXPECT_EQ(Cycles(p, slice, Fidelity::kBundle),
            Cycles(p, slice, Fidelity::kTile));
  ProgramData data(p, slice);
  SimOptions options;
  options.fidelity = Fidelity::kBundle;
  options.data = &data;
  const absl::Status status = Simulate(p, slice, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("all-reduce.3"));
}

TEST(Bundle, ParametersOfAnotherSizeAreRefused) {
  const isa::Program p = DoubleProgram(2);
  ProgramData data(p, TestSlice("v6e-1"));
  const std::vector<uint8_t> bytes(12);
  EXPECT_THAT(data.SetParameter(0, bytes).message(),
              HasSubstr("8192 bytes, not 12"));
  EXPECT_FALSE(data.SetParameter(1, bytes).ok());
  EXPECT_FALSE(data.Output(1).ok());
}

}  // namespace
}  // namespace ptxla::sim
