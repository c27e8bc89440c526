#include "isa/interpreter.h"

#include <algorithm>
#include <map>

#include "core_fixture.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// out = 2 * in over rows of 512 B, in blocks of 8 rows with a ragged last one.
Kernel Doubler(int64_t rows) {
  Kernel k;
  k.name = "doubler";
  k.args = {{"in", Space::kHbm, Direction::kIn, rows * 512},
            {"out", Space::kHbm, Direction::kOut, rows * 512}};
  k.grid = {(rows + 7) / 8};
  k.megacore_dim = 0;
  Window w;
  w.dims = {{8, rows, 512, 512, 0}};
  w.inner_bytes = 512;
  w.slot_bytes = 4096;
  k.windows = {w, w};
  k.windows[1].arg = 1;
  k.windows[1].direction = Direction::kOut;
  LayoutVmem(&k);
  k.entry = *ParseCode("block \"e\" { { dma.start w0 } }");
  k.step = *ParseCode(
      "block \"s\" { { dma.start w0 ; s1 = swin w0 } "
      "{ dma.wait w0 ; s2 = swin w1 } { dma.wait w1 ; v1 = vld [s1] } "
      "{ v2 = vadd.s32 v1, v1 } { vst [s2], v2 } { dma.start w1 } }");
  k.exit = *ParseCode("block \"x\" { { dma.wait w1 } }");
  return k;
}

std::vector<uint8_t> Counting(int64_t words) {
  std::vector<uint8_t> bytes(words * 4);
  for (int64_t i = 0; i < words; ++i) {
    const uint32_t x = static_cast<uint32_t>(i);
    std::memcpy(&bytes[i * 4], &x, 4);
  }
  return bytes;
}

TEST(InterpreterTest, WindowsMoveWithTheGridAndClampAtTheEdge) {
  for (int64_t rows : {1, 7, 8, 9, 30, 64}) {
    for (int cores : {1, 2}) {
      const Kernel k = Doubler(rows);
      std::vector<uint8_t> in = Counting(rows * 128);
      std::vector<uint8_t> out(in.size() + 64, 0xAB);
      for (int c = 0; c < cores; ++c) {
        Core core(testing::Wide());
        ASSERT_OK(core.Run(
            k,
            {{absl::MakeSpan(in)}, {absl::MakeSpan(out).subspan(0, in.size())}},
            c, cores));
      }
      for (int64_t i = 0; i < rows * 128; ++i) {
        uint32_t x;
        std::memcpy(&x, &out[i * 4], 4);
        ASSERT_EQ(x, 2 * i) << rows;
      }
      EXPECT_EQ(out.back(), 0xAB);
    }
  }
}

TEST(InterpreterTest, AForgottenWaitIsSeen) {
  Kernel k = Doubler(16);
  k.exit.clear();
  std::vector<uint8_t> in = Counting(16 * 128);
  std::vector<uint8_t> out(in.size());
  Core core(testing::Wide());
  EXPECT_THAT(core.Run(k, {{absl::MakeSpan(in)}, {absl::MakeSpan(out)}}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("window w1 that it did not wait for")));
}

class SlowClock : public DmaClock {
 public:
  void OnStart(const DmaEvent& e, const Box& box, int64_t now) override {
    log.push_back(absl::StrCat("start w", e.index, " #", e.transfer, " ",
                               box.bytes, " @", now));
    done[{e.index, e.transfer}] = now + 100;
  }
  int64_t OnWait(const DmaEvent& e, int64_t now) override {
    log.push_back(absl::StrCat("wait w", e.index, " #", e.transfer, " @", now));
    return std::max(now, done[{e.index, e.transfer}]);
  }
  std::vector<std::string> log;
  std::map<std::pair<int, int64_t>, int64_t> done;
};

TEST(InterpreterTest, TheClockDecidesHowLongWaitsTake) {
  const Kernel k = Doubler(20);
  std::vector<uint8_t> in = Counting(20 * 128);
  std::vector<uint8_t> out(in.size());
  Core core(testing::Wide());
  SlowClock clock;
  ASSERT_OK_AND_ASSIGN(
      const int64_t cycles,
      core.Run(k, {{absl::MakeSpan(in)}, {absl::MakeSpan(out)}}, 0, 1, &clock));
  // entry: fetch 0 at 0, done at 100. Step 0 starts fetch 1 at 1 (done 101),
  // waits at 2 until 100; its output starts at 104. Step 1 starts fetch 2 at
  // 105, waits for fetch 1 (over); output at 110. Step 2 waits for fetch 2
  // until 205 and for the slot of write-back 0 (over at 204); output at 209,
  // over at 309; exit waits until then.
  EXPECT_EQ(
      clock.log,
      (std::vector<std::string>{
          "start w0 #0 4096 @0", "start w0 #1 4096 @1", "wait w0 #0 @2",
          "start w1 #0 4096 @104", "start w0 #2 2048 @105", "wait w0 #1 @106",
          "start w1 #1 4096 @110", "wait w0 #2 @112", "wait w1 #0 @206",
          "start w1 #2 2048 @209", "wait w1 #2 @210"}));
  EXPECT_EQ(cycles, 310);
}

TEST(InterpreterTest, ResidentWindowsAreAddressedInPlace) {
  Kernel k;
  k.args = {{"a", Space::kVmem, Direction::kIn, 16 * 4096},
            {"o", Space::kHbm, Direction::kOut, 16 * 512}};
  k.grid = {4};
  Window w;
  w.dims = {{2, 16, 4096, 4096, 0, 1, 0, 0}};
  w.inner_bytes = 4096;
  k.windows = {w};
  k.scratch_bytes = 4096;
  LayoutVmem(&k);
  k.step = *ParseCode(
      "block \"s\" { { s1 = swin w0 } { v1 = vld [s1+4096] ; s2 = sscratch 0} "
      "{ s3 = sgrid 0 } { s3 = sshll.u32 s3, 12 } { s3 = sadd.s32 s3, 131072 }"
      "{ vst [s3], v1 } }");
  k.vmem_bytes = 1 << 18;
  Core core(testing::Wide());
  absl::Span<uint8_t> vmem = core.vmem(1 << 18);
  for (int i = 0; i < 16 * 1024; ++i) {
    const uint32_t x = static_cast<uint32_t>(i);
    std::memcpy(&vmem[32768 + 4 * i], &x, 4);
  }
  ArgMemory a;
  a.address = 32768;
  ASSERT_OK(core.Run(k, {a, {}}));
  for (int step = 0; step < 4; ++step) {
    uint32_t x;
    std::memcpy(&x, &core.vmem()[131072 + 4096 * step], 4);
    EXPECT_EQ(x, (2 * step + 1) * 1024);
  }
}

// Gathers rows of a table: indices come through SMEM.
TEST(InterpreterTest, DescriptorsGatherRowsByScalarOffset) {
  Kernel k;
  k.args = {{"table", Space::kHbm, Direction::kIn, 64 * 512},
            {"index", Space::kHbm, Direction::kIn, 8 * 4},
            {"out", Space::kHbm, Direction::kOut, 4096}};
  Window index;
  index.arg = 1;
  index.space = Space::kSmem;
  index.inner_bytes = 32;
  index.slots = 1;
  index.slot_bytes = 32;
  Window out;
  out.arg = 2;
  out.direction = Direction::kOut;
  out.inner_bytes = 4096;
  out.slots = 1;
  out.slot_bytes = 4096;
  k.windows = {index, out};
  k.descriptors = {{0, -1, Space::kVmem, {}, 512, 0}};
  k.num_semaphores = 1;
  LayoutVmem(&k);
  k.entry = *ParseCode("block \"e\" { { dma.start w0 } { dma.wait w0 } }");
  k.step = *ParseCode(
      "block \"a\" { { s1 = swin w0 ; s2 = swin w1 } }"
      "loop s3 step 4 times 8 { block \"b\" { { s4 = sadd.s32 s1, s3 } "
      "{ s5 = sld [s4] } { s5 = sshll.u32 s5, 9 } "
      "{ dma.start.desc d0, s5, s2 } { s2 = sadd.s32 s2, 512 } } }"
      "block \"c\" { { dma.done.wait sem0, 4096 } { dma.start w1 } }");
  k.exit = *ParseCode("block \"x\" { { dma.wait w1 } }");
  std::vector<uint8_t> table = Counting(64 * 128);
  const uint32_t kRows[] = {5, 63, 0, 7, 7, 12, 1, 40};
  std::vector<uint8_t> indices(32);
  std::memcpy(indices.data(), kRows, 32);
  std::vector<uint8_t> result(4096);
  Core core(testing::Wide());
  ASSERT_OK(core.Run(k, {{absl::MakeSpan(table)},
                         {absl::MakeSpan(indices)},
                         {absl::MakeSpan(result)}}));
  for (int r = 0; r < 8; ++r) {
    uint32_t x;
    std::memcpy(&x, &result[r * 512 + 4], 4);
    EXPECT_EQ(x, kRows[r] * 128 + 1);
  }
}

TEST(InterpreterTest, ARegisterSaysOnDataHowOftenALoopRuns) {
  for (const int32_t asked : {-1, 0, 1, 3, 1000}) {
    Kernel k;
    k.args = {{"out", Space::kHbm, Direction::kOut, 4096}};
    Window out;
    out.direction = Direction::kOut;
    out.inner_bytes = 4096;
    out.slots = 1;
    out.slot_bytes = 4096;
    k.windows = {out};
    LayoutVmem(&k);
    k.step = *ParseCode(absl::StrCat(
        "block \"a\" { { s1 = swin w0 ; s2 = smov ", asked,
        " ; v1 = vimm.u32 0x0 ; v2 = vimm.u32 0x1 } } "
        "loop s3 step 1 times 3 of s2 { block \"b\" { { v1 = vadd.s32 v1, v2 }"
        " } } block \"c\" { { vst [s1], v1 } { dma.start w0 } }"));
    k.exit = *ParseCode("block \"x\" { { dma.wait w0 } }");
    std::vector<uint8_t> result(4096);
    Core core(testing::Wide());
    ASSERT_OK(core.Run(k, {{absl::MakeSpan(result)}}));
    int32_t ran;
    std::memcpy(&ran, result.data(), 4);
    EXPECT_EQ(ran, std::max(0, asked));
  }
}

TEST(InterpreterTest, ErrorsSayWhere) {
  Kernel k;
  k.name = "bad";
  k.grid = {3};
  k.step = *ParseCode(
      "when last 0 { block \"tail\" { {nop 4} { v1 = vpop.eup } } }");
  Core core(testing::Wide());
  EXPECT_THAT(core.Run(k, {}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("kernel \"bad\": step 2: block \"tail\" "
                                 "bundle 1 cycle 4: `v1 = vpop.eup`")));
}

TEST(InterpreterTest, AMatmulNeedsWeights) {
  Kernel k;
  k.step = *ParseCode("block \"\" { { vmatmul.f32.mxu0 v1 } }");
  Core core(testing::Wide());
  EXPECT_THAT(core.Run(k, {}), StatusIs(absl::StatusCode::kInternal,
                                        HasSubstr("before any weights")));
}

}  // namespace
}  // namespace ptxla::isa
