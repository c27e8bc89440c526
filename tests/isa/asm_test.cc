#include "isa/asm.h"

#include "random_code.h"
#include "sample_program.h"
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

TEST(AsmTest, KernelsAndProgramsParseBackFromTheirText) {
  const Program program = testing::SampleProgram();
  const std::string text = Print(program);
  ASSERT_OK_AND_ASSIGN(const Program back, ParseProgram(text));
  EXPECT_TRUE(back == program) << text << "\nvs\n" << Print(back);
  ASSERT_OK_AND_ASSIGN(const Kernel kernel,
                       ParseKernel(Print(testing::SampleKernel())));
  EXPECT_TRUE(kernel == testing::SampleKernel());
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
  const std::string text = Print(testing::SampleProgram());
  for (size_t n = 0; n + 2 < text.size(); n += 3) {
    EXPECT_FALSE(ParseProgram(text.substr(0, n)).ok());
  }
}

TEST(AsmTest, DamagedTextIsReadOrRefusedWithoutCrash) {
  const std::string text = Print(testing::SampleProgram());
  std::mt19937 rng(9);
  const absl::string_view kBytes = "{}[]=;,@!+-09azv\"\\ \n";
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) {
      const size_t at = rng() % damaged.size();
      switch (rng() % 3) {
        case 0:
          damaged[at] = kBytes[rng() % kBytes.size()];
          break;
        case 1:
          damaged.erase(at, 1 + rng() % 20);
          break;
        default:
          damaged.insert(at, damaged.substr(rng() % damaged.size(), 30));
          break;
      }
    }
    const absl::StatusOr<Program> program = ParseProgram(damaged);
    if (!program.ok()) {
      EXPECT_EQ(program.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ASSERT_OK_AND_ASSIGN(const Program again, ParseProgram(Print(*program)));
    EXPECT_TRUE(again == *program);
  }
}

TEST(AsmTest, NestingIsLimited) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "loop s1 step 1 times 1 {";
  EXPECT_THAT(ParseCode(deep), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("levels of braces")));
}

}  // namespace
}  // namespace ptxla::isa
