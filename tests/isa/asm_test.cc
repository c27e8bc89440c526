#include "isa/asm.h"

#include "random_code.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

TEST(AsmTest, EveryInstructionPrintsAndParsesBack) {
  std::mt19937 rng(1);
  for (int op = 0; op < kNumOpcodes; ++op) {
    for (int i = 0; i < 20; ++i) {
      const Instr instr = testing::RandomInstr(static_cast<Opcode>(op), &rng);
      const std::string text = Print(instr);
      ASSERT_OK_AND_ASSIGN(const Instr back, ParseInstr(text));
      EXPECT_EQ(back, instr) << text << " vs " << Print(back);
    }
  }
}

TEST(AsmTest, InstructionsLookAsDocumented) {
  Instr add{Opcode::kVaddF32};
  add.dst = 3;
  add.a = 1;
  add.b = 2;
  EXPECT_EQ(Print(add), "v3 = vadd.f32 v1, v2");
  Instr matmul{Opcode::kVmatmulBf16};
  matmul.unit = 1;
  matmul.a = 7;
  matmul.c = 1;
  matmul.guard = GuardIfNot(2);
  EXPECT_EQ(Print(matmul), "@!p2 vmatmul.bf16.mxu1 v7, latch=msra");
}

Kernel SampleKernel() {
  Kernel k;
  k.name = "fusion.1 \"quoted\"\n";
  k.fingerprint = 0xFEDCBA9876543210u;
  k.args = {{"a", Space::kHbm, Direction::kIn, 1 << 20},
            {"o", Space::kCmem, Direction::kInOut, 4096}};
  k.grid = {4, 8};
  k.megacore_dim = 0;
  Window w;
  w.dims = {{16, 100, 4096, 512, 1, 2, 3, -1}, {}};
  w.inner_bytes = 512;
  w.slot_bytes = 8192;
  k.windows = {w, w};
  k.windows[1].direction = Direction::kOut;
  k.descriptors = {{0, -1, Space::kSmem, {{4, 100, 200}, {}}, 64, 1}};
  k.num_semaphores = 2;
  k.work = {1, 2, 3, 4};
  Block block;
  block.label = "body";
  block.AddNop(7);
  Instr load{Opcode::kVld};
  load.dst = 1;
  load.a = 2;
  load.imm = -512;
  Instr mov{Opcode::kSmov};
  mov.dst = 4;
  mov.imm = -1;
  block.Add({load, mov});
  block.Add({});
  k.entry = {block};
  k.step = {Loop{5, 16, -4, {When{1, When::Kind::kNotLast, {block}}}},
            Loop{kNoReg, 2, 1, {block, Loop{6, 3, 1, {block}}}}};
  return k;
}

Program SampleProgram() {
  Program p;
  p.name = "step";
  p.chip = "v5e";
  p.num_partitions = 8;
  p.kernels = {SampleKernel()};
  p.buffers = {{0, "p0", 4096, Space::kHbm, 0, -1, "encoder.0/ffn"},
               {1, "t", 64, Space::kVmem, 1024, 0, ""}};
  TiledLayout layout{{1024, 768}, {1, 0}, {{8, 128}, {2, 1}}, 16};
  p.parameters = {{"p0", "bf16[1024,768]{1,0:T(8,128)(2,1)}", layout, {0, 0}}};
  p.outputs = {{"{0}", "f32[]", {}, {1, 32}}};
  p.constants = {{{1, 4}, std::string("\0\xFF\"\n", 4)}};
  OpInfo info{"fusion.1", "fusion", "encoder/0", "model.py", 12, 100, 200};
  CollectiveStart c{3,
                    CollectiveKind::kReduceScatter,
                    {{0, 1}, {2, 3}},
                    {{0, 1}},
                    Reduction::kSum,
                    "bf16",
                    77,
                    {{0, 1}},
                    {{1, 2}}};
  p.schedule.push_back({info, Call{0, {{0, 0}, {1, 16}}, 2}});
  p.schedule.push_back({info, CopyStart{1, {0, 0}, {1, 0}, 64}});
  p.schedule.push_back({info, CopyDone{1}});
  p.schedule.push_back({info, c});
  p.schedule.push_back({info, CollectiveDone{3}});
  p.schedule.push_back({info, HostTransfer{false, {0, 0}, 8}});
  p.schedule.push_back({{}, Barrier{}});
  Schedule body = {p.schedule[0], p.schedule[6]};
  p.schedule.push_back(
      {info, While{12, TripCount::kAssumed, "flag", {0, 4}, body, body}});
  p.schedule.push_back(
      {info, Conditional{{0, 4}, 1, "taken", {body, {}, body}}});
  return p;
}

TEST(AsmTest, KernelsAndProgramsParseBackFromTheirText) {
  const Program program = SampleProgram();
  const std::string text = Print(program);
  ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(text));
  EXPECT_TRUE(back == program) << text << "\nvs\n" << Print(back);
  ASSERT_OK_AND_ASSIGN(const Kernel kernel, ParseKernel(Print(SampleKernel())));
  EXPECT_TRUE(kernel == SampleKernel());
}

TEST(AsmTest, ErrorsNameLineAndColumn) {
  EXPECT_THAT(ParseCode("block \"a\" {\n  { v1 = vad.f32 v2, v3 }\n}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("code:2:10: unknown instruction \"vad.f32\"; "
                                 "did you mean \"vadd.f32\"")));
  EXPECT_THAT(ParseCode("block \"a\" { { v1 = vadd.f32 v2 } }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1:32: expected ','")));
  EXPECT_THAT(ParseCode("block \"a\" { { s1 = vadd.f32 v2, v3 } }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("writes a register vN")));
  EXPECT_THAT(ParseCode("loop s1 step 1 times -4 { }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1:22: number out of range")));
  EXPECT_THAT(
      ParseKernel("kernel {\n bytez=3 }", "k.tpuasm"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("k.tpuasm:2:")));
  EXPECT_THAT(
      ParseKernel("kernel { name=\"abc"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("does not end")));
}

TEST(AsmTest, AnyPrefixOfAProgramIsRefusedWithoutCrash) {
  const std::string text = Print(SampleProgram());
  for (size_t n = 0; n + 2 < text.size(); n += 3) {
    EXPECT_FALSE(ParseProgram(text.substr(0, n)).ok());
  }
}

}  // namespace
}  // namespace ptxla::isa
