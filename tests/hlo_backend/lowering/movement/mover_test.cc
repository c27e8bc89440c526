// Do movement kernels put every element where HLO says? Bundles against the
// evaluator.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/movement/reflow.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

void ExpectMoved(absl::string_view parameters, absl::string_view instruction) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    const std::string hlo =
        absl::Substitute("HloModule m\nENTRY e {\n$0\n  ROOT r = $1\n}",
                         parameters, instruction);
    EXPECT_OK(CompareKernel(hlo, options).status()) << chip << "\n" << hlo;
  }
}

TEST(MoverTest, AReshapeSplitsTheMinorDimension) {
  for (const char* type : {"f32", "bf16", "s8"}) {
    ExpectMoved(absl::Substitute("  a = $0[256,128] parameter(0)", type),
                absl::Substitute("$0[2,128,2,64] reshape(a)", type));
    ExpectMoved(absl::Substitute("  a = $0[2,128,2,64] parameter(0)", type),
                absl::Substitute("$0[256,128] reshape(a)", type));
  }
}

TEST(MoverTest, ARaggedReshapeMovesEveryElement) {
  for (const char* type : {"f32", "bf16", "u8"}) {
    ExpectMoved(absl::Substitute("  a = $0[7,30] parameter(0)", type),
                absl::Substitute("$0[5,42] reshape(a)", type));
    ExpectMoved(absl::Substitute("  a = $0[3,5,129] parameter(0)", type),
                absl::Substitute("$0[15,129] reshape(a)", type));
    ExpectMoved(absl::Substitute("  a = $0[1000] parameter(0)", type),
                absl::Substitute("$0[10,100] reshape(a)", type));
    ExpectMoved(absl::Substitute("  a = $0[10,100] parameter(0)", type),
                absl::Substitute("$0[1000] reshape(a)", type));
  }
}

// A register of single elements takes more registers than there are.
TEST(MoverTest, ManyPiecesMayWaitInMemory) {
  for (const char* type : {"bf16", "u8"}) {
    ExpectMoved(absl::Substitute("  a = $0[700,1] parameter(0)", type),
                absl::Substitute("$0[1,700] reshape(a)", type));
  }
}

// Through a line in VMEM, whatever the sizes: planes, rows, lines.
TEST(MoverTest, AReshapeWithoutEqualBlocksGoesThroughALine) {
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{
           {"7,30", "5,42"},
           {"100,101", "101,100"},
           {"130,300", "39000"},
           {"39000", "130,300"},
           {"3,5,129", "15,129"},
           {"6,50,50", "6,2500"},
           {"64,2500", "64,50,50"},
           {"2,3,300", "1800"},
           {"40,1,9", "9,40"},
           {"517,301", "301,517"},
           {"1250,2,33", "66,1,1250"}}) {
    for (const char* chip : {"v3", "v5e"}) {
      HarnessOptions options;
      options.chip = chip;
      options.emit = EmitReflow;
      const std::string hlo = absl::Substitute(
          "HloModule m\nENTRY e {\n  a = f32[$0] parameter(0)\n"
          "  ROOT r = f32[$1] reshape(a)\n}",
          from, to);
      EXPECT_OK(CompareKernel(hlo, options).status()) << chip << "\n" << hlo;
      options.in_vmem = {0};
      EXPECT_OK(CompareKernel(hlo, options).status()) << "VMEM " << hlo;
    }
  }
}

int64_t CyclesThroughALine(absl::string_view from, absl::string_view to) {
  HarnessOptions options;
  options.emit = EmitReflow;
  const auto result = CompareKernel(
      absl::Substitute("HloModule m\nENTRY e {\n  a = f32[$0] parameter(0)\n"
                       "  ROOT r = f32[$1] reshape(a)\n}",
                       from, to),
      options);
  EXPECT_OK(result.status());
  return result.ok() ? result->cycles : 0;
}

// An array of one dimension is the line: nothing is rotated a second time.
TEST(MoverTest, ALineIsCopiedAsItLies) {
  const int64_t both = CyclesThroughALine("1000,300", "600,500");
  EXPECT_LT(CyclesThroughALine("1000,300", "300000"), both * 2 / 3);
  EXPECT_LT(CyclesThroughALine("300000", "1000,300"), both * 2 / 3);
}

TEST(MoverTest, ALongRowIsALine) {
  const int64_t line = CyclesThroughALine("1024,300", "307200");
  EXPECT_LE(CyclesThroughALine("1024,300", "1,307200"), line);
  CyclesThroughALine("1,307200", "1024,300");
}

// Small tiles of v3 have two rows: of a long row, every other one is padding.
TEST(MoverTest, ALongRowInTallerTilesIsALineWithGaps) {
  HarnessOptions options;
  options.chip = "v3";
  options.emit = EmitReflow;
  for (const auto& [from, to] :
       {std::pair("600,1024", "1,614400"), std::pair("1,614400", "600,1024")}) {
    const auto result = CompareKernel(
        absl::Substitute("HloModule m\nENTRY e {\n  a = s32[$0] parameter(0)\n"
                         "  ROOT r = s32[$1] reshape(a)\n}",
                         from, to),
        options);
    ASSERT_OK(result.status());
    EXPECT_GT(result->kernel.grid[0], 1) << "the whole row in one step";
  }
}

// Eight rows of 1,600 columns are whole rows of the line, those of 1,601 begin
// anywhere in it.
TEST(MoverTest, RowsThatFillTheLineTogetherNeedNoArithmetic) {
  EXPECT_LT(CyclesThroughALine("1600,250", "250,1600"),
            CyclesThroughALine("1601,250", "250,1601") * 3 / 4);
}

// The rows of the second half of a packed word begin before the block.
TEST(MoverTest, APackedVectorBecomesOneRow) {
  for (const char* type : {"f32", "bf16", "u8"}) {
    ExpectMoved(absl::Substitute("  a = $0[4096] parameter(0)", type),
                absl::Substitute("$0[1,4096] reshape(a)", type));
    ExpectMoved(absl::Substitute("  a = $0[1,4096] parameter(0)", type),
                absl::Substitute("$0[4096] reshape(a)", type));
  }
}

TEST(MoverTest, ATransposeOfMajorsKeepsRows) {
  for (const char* type : {"f32", "bf16", "u8"}) {
    ExpectMoved(absl::Substitute("  a = $0[4,16,2,64] parameter(0)", type),
                absl::Substitute(
                    "$0[4,2,16,64] transpose(a), dimensions={0,2,1,3}", type));
    ExpectMoved(absl::Substitute("  a = $0[4,2,16,64] parameter(0)", type),
                absl::Substitute(
                    "$0[4,16,2,64] transpose(a), dimensions={0,2,1,3}", type));
    ExpectMoved(
        absl::Substitute("  a = $0[3,5,130] parameter(0)", type),
        absl::Substitute("$0[5,3,130] transpose(a), dimensions={1,0,2}", type));
  }
}

// The first, the second and the last block of such an exchange lie where they
// came from.
TEST(MoverTest, ATransposeOfMajorsMovesTheBlocksBetween) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = f32[96,2,16,16] parameter(0)
  ROOT t = f32[2,96,16,16] transpose(x), dimensions={1,0,2,3}
})",
                            options)
                  .status())
        << chip;
  }
}

TEST(MoverTest, StepsInARowAreOneMovement) {
  for (const char* type : {"f32", "bf16", "u8"}) {
    for (const auto& [heads, width] :
         std::vector<std::pair<int, int>>{{2, 64}, {3, 40}, {4, 32}}) {
      const std::string split = absl::Substitute(
          R"(HloModule m
f {
  p = $0[64,$3] parameter(0)
  r = $0[2,32,$1,$2] reshape(p)
  ROOT t = $0[2,$1,32,$2] transpose(r), dimensions={0,2,1,3}
}
ENTRY e {
  a = $0[64,$3] parameter(0)
  ROOT r = $0[2,$1,32,$2] fusion(a), kind=kLoop, calls=f
})",
          type, heads, width, heads * width);
      const std::string merge = absl::Substitute(
          R"(HloModule m
f {
  p = $0[2,$1,32,$2] parameter(0)
  t = $0[2,32,$1,$2] transpose(p), dimensions={0,2,1,3}
  ROOT r = $0[64,$3] reshape(t)
}
ENTRY e {
  a = $0[2,$1,32,$2] parameter(0)
  ROOT r = $0[64,$3] fusion(a), kind=kLoop, calls=f
})",
          type, heads, width, heads * width);
      EXPECT_OK(CompareKernel(split).status()) << split;
      EXPECT_OK(CompareKernel(merge).status()) << merge;
    }
  }
}

TEST(MoverTest, SlicesStartAnywhere) {
  for (const char* type : {"f32", "bf16"}) {
    ExpectMoved(
        absl::Substitute("  a = $0[20,300] parameter(0)", type),
        absl::Substitute("$0[9,100] slice(a), slice={[3:12], [70:170]}", type));
    ExpectMoved(
        absl::Substitute("  a = $0[8,16,128] parameter(0)", type),
        absl::Substitute("$0[8,1,128] slice(a), slice={[0:8], [0:1], [0:128]}",
                         type));
    ExpectMoved(
        absl::Substitute("  a = $0[1,512] parameter(0)", type),
        absl::Substitute("$0[1,128] slice(a), slice={[0:1], [0:128]}", type));
  }
}

// Blocks of 8.5 rows of 64 tiles, whose last columns come from the next tile.
TEST(MoverTest, ASliceOfManyColumnsBeginsWithinATile) {
  ExpectMoved("  a = s32[149,8151] parameter(0)",
              "s32[130,8144] slice(a), slice={[17:147], [4:8148]}");
}

TEST(MoverTest, ConcatenatesAndPads) {
  ExpectMoved("  a = u32[1] parameter(0)\n  b = u32[1] parameter(1)",
              "u32[2] concatenate(a, b), dimensions={0}");
  ExpectMoved("  a = f32[5,30] parameter(0)\n  b = f32[5,100] parameter(1)",
              "f32[5,130] concatenate(a, b), dimensions={1}");
  ExpectMoved("  a = bf16[5,30] parameter(0)\n  b = bf16[6,30] parameter(1)",
              "bf16[11,30] concatenate(a, b), dimensions={0}");
  // The first rows of an operand in the middle of a register: the group of
  // rows around them would begin before the operand.
  ExpectMoved("  a = f32[9,7] parameter(0)\n  b = f32[23,7] parameter(1)",
              "f32[32,7] concatenate(a, b), dimensions={0}");
  ExpectMoved("  a = f32[16,1,1] parameter(0)\n  b = f32[16,1,1] parameter(1)",
              "f32[16,2,1] concatenate(a, b), dimensions={1}");
  ExpectMoved("  a = f32[5,30] parameter(0)\n  z = f32[] constant(-3)",
              "f32[9,40] pad(a, z), padding=1_3x4_6");
}

// Of blocks of 1,104 rows none of the rows that are looked at in both the first
// block and the second comes from the third array.
TEST(MoverTest, AnArrayThatNoSampledRowComesFromMovesToo) {
  ExpectMoved(R"(  a = f32[16,1,8732] parameter(0)
  b = f32[16,1,8732] parameter(1)
  c = f32[16,1,8732] parameter(2)
  d = f32[16,1,8732] parameter(3))",
              "f32[16,4,8732] concatenate(a, b, c, d), dimensions={1}");
}

TEST(MoverTest, PaddingOnAllSidesIsNoRegularBlock) {
  ExpectMoved("  a = bf16[4,33,13,300] parameter(0)\n  z = bf16[] constant(1)",
              "bf16[9,38,18,303] pad(a, z), padding=2_3x2_3x3_2x3_0");
}

TEST(MoverTest, ReversesRows) {
  ExpectMoved("  a = f32[5,3,30] parameter(0)",
              "f32[5,3,30] reverse(a), dimensions={0,1}");
}

TEST(MoverTest, AnArrayLargerThanVmemGoesInBlocks) {
  HarnessOptions options;
  options.chip = "v5e";
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(R"(
HloModule m
ENTRY e {
  a = bf16[4096,1024] parameter(0)
  ROOT r = bf16[32,128,16,64] reshape(a)
})",
                                                          options));
  EXPECT_GT(kernel.NumSteps(), 1);
  EXPECT_LE(kernel.vmem_bytes, 16 << 20);
}

// 191 rows of tiles are a prime number of them: equal steps would have one
// each. A result in VMEM has no window to cut off the last block, which moves
// back.
TEST(MoverTest, AnOddNumberOfRowsOfTilesIsMovedInLargeBlocks) {
  for (const char* rows : {"[0:1523]", "[48:1571]"}) {
    for (const bool in_vmem : {false, true}) {
      HarnessOptions options;
      options.chip = "v6e";
      if (in_vmem) options.in_vmem = {1};
      const auto result =
          CompareKernel(absl::Substitute("HloModule m\nENTRY e {\n"
                                         "  a = bf16[3000,1000] parameter(0)\n"
                                         "  ROOT r = bf16[1523,1000] slice(a), "
                                         "slice={$0,[0:1000]}\n}\n",
                                         rows),
                        options);
      ASSERT_OK(result.status()) << rows;
      EXPECT_LE(result->kernel.NumSteps(), 16) << result->kernel.note;
    }
  }
}

// Rows that have no equal blocks and more columns than fit: some columns at a
// time, of arrays in memory and in VMEM.
TEST(MoverTest, RowsOfManyColumnsAreJoinedSomeColumnsAtATime) {
  struct Case {
    const char* from;
    const char* to;
  };
  for (const char* chip : {"v5e", "v6e"}) {
    for (const Case& c : {Case{"f32[3,299,6000]", "f32[897,6000]"},
                          Case{"bf16[1183,6700]", "bf16[7,169,6700]"},
                          Case{"s8[13,77,20000]", "s8[77,13,20000]"}}) {
      for (const bool in_vmem : {false, true}) {
        HarnessOptions options;
        options.chip = chip;
        if (in_vmem) options.in_vmem = {0, 1};
        const std::string text = absl::Substitute(
            "HloModule m\nENTRY e {\n  a = $0 parameter(0)\n"
            "  ROOT r = $1 reshape(a)\n}\n",
            c.from, c.to);
        const auto result = CompareKernel(text, options);
        EXPECT_OK(result.status()) << chip << text;
        EXPECT_TRUE(!result.ok() ||
                    absl::StrContains(result->kernel.note, "columns in"))
            << chip << text << result->kernel.note;
      }
    }
  }
}

// More rows than one step's code moves: two sequences of 500 tokens fill whole
// tiles together, and of those a step has some columns.
TEST(MoverTest, ManyRowsAreJoinedSomeRowsAndColumnsAtATime) {
  HarnessOptions options;
  options.chip = "v3";
  const auto result = CompareKernel(R"(HloModule m
ENTRY e {
  a = f32[20,500,1000] parameter(0)
  ROOT r = f32[10000,1000] reshape(a)
})",
                                    options);
  ASSERT_OK(result.status());
  EXPECT_EQ(result->kernel.grid.size(), 2u) << result->kernel.note;
}

}  // namespace
}  // namespace ptxla::lowering
