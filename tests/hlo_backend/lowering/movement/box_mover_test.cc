// Do movements whose dimensions move by themselves put every element where HLO
// says, block by block, from windows and from boxes that a step fetches itself?
#include "hlo_backend/lowering/movement/box_mover.h"

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "isa/asm.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

const std::vector<const char*> kTypes = {"f32", "bf16", "u8"};

void ExpectMoves(const std::string& parameters, const std::string& instruction,
                 std::vector<int> in_vmem = {}) {
  for (const char* chip : {"v3", "v5e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = in_vmem;
    options.emit = EmitBoxMover;
    const std::string hlo =
        absl::Substitute("HloModule m\nENTRY e {\n$0\n  ROOT r = $1\n}",
                         parameters, instruction);
    EXPECT_OK(CompareKernel(hlo, options).status()) << chip << "\n" << hlo;
  }
}

// $0 stands for the type; operands in HBM, in VMEM, and with the result.
void ExpectMovesAnywhere(const char* type, const char* parameters,
                         const char* instruction) {
  const std::string p = absl::Substitute(parameters, type);
  const std::string i = absl::Substitute(instruction, type);
  ExpectMoves(p, i);
  ExpectMoves(p, i, {0});
}

TEST(BoxMoverTest, ASliceBeginsAnywhere) {
  for (const char* type : kTypes) {
    ExpectMovesAnywhere(
        type, "  a = $0[4,70,300] parameter(0)",
        "$0[2,37,140] slice(a), slice={[1:3], [9:46], [77:217]}");
    ExpectMovesAnywhere(type, "  a = $0[50,300] parameter(0)",
                        "$0[20,172] slice(a), slice={[30:50], [128:300]}");
    ExpectMovesAnywhere(type, "  a = $0[3000] parameter(0)",
                        "$0[1111] slice(a), slice={[777:1888]}");
  }
}

TEST(BoxMoverTest, ASliceTakesEveryThirdPlane) {
  for (const char* type : kTypes) {
    ExpectMovesAnywhere(
        type, "  a = $0[11,7,9,130] parameter(0)",
        "$0[3,3,9,130] slice(a), slice={[1:9:3], [2:7:2], [0:9], [0:130]}");
  }
}

TEST(BoxMoverTest, APadFillsAllSides) {
  for (const char* type : kTypes) {
    ExpectMovesAnywhere(
        type, "  a = $0[2,3,10,130] parameter(0)\n  f = $0[] constant(3)",
        "$0[4,5,15,270] pad(a, f), padding=1_1x2_0x3_2x40_100");
    ExpectMovesAnywhere(type,
                        "  a = $0[40,300] parameter(0)\n  f = $0[] constant(3)",
                        "$0[35,280] pad(a, f), padding=-10_5x-50_30");
    ExpectMovesAnywhere(type,
                        "  a = $0[700] parameter(0)\n  f = $0[] constant(3)",
                        "$0[1200] pad(a, f), padding=333_167");
  }
}

TEST(BoxMoverTest, APadFillsWithAValueThatIsComputed) {
  for (const char* type : kTypes) {
    ExpectMoves(
        absl::Substitute("  a = $0[3,10,70] parameter(0)\n"
                         "  f = $0[] parameter(1)",
                         type),
        absl::Substitute("$0[5,13,90] pad(a, f), padding=1_1x2_1x20_0", type));
  }
}

TEST(BoxMoverTest, APadLeavesGapsBetweenPlanes) {
  for (const char* type : kTypes) {
    for (const char* padding :
         {"-1_2_1x-1_2_1", "0_1_1x1_0_1", "2_-1_2x3_1_1"}) {
      const std::string p = absl::Substitute(
          "  a = $0[5,6,8,70] parameter(0)\n  f = $0[] constant(2)", type);
      const std::string pad = padding;
      const char* result = pad[0] == '-'   ? "10,12"
                           : pad[0] == '0' ? "10,12"
                                           : "14,15";
      ExpectMoves(
          p, absl::Substitute("$0[$1,8,70] pad(a, f), padding=$2x0_0x0_0", type,
                              result, padding));
    }
  }
}

TEST(BoxMoverTest, AReversalTurnsPlanesRound) {
  for (const char* type : kTypes) {
    ExpectMoves(
        absl::Substitute("  a = $0[3,7,9,130] parameter(0)", type),
        absl::Substitute("$0[3,7,9,130] reverse(a), dimensions={0,1}", type));
  }
}

TEST(BoxMoverTest, AConcatenationMeetsAnywhere) {
  for (const char* type : kTypes) {
    for (const auto& [a, b, c, r, d] :
         std::vector<std::tuple<const char*, const char*, const char*,
                                const char*, int>>{
             {"3,9,130", "2,9,130", "1,9,130", "6,9,130", 0},
             {"3,9,130", "3,20,130", "3,5,130", "3,34,130", 1},
             {"3,9,130", "3,9,64", "3,9,300", "3,9,494", 2},
             {"1000", "77", "5", "1082", 0}}) {
      ExpectMovesAnywhere(
          type,
          absl::Substitute("  a = $$0[$0] parameter(0)\n"
                           "  b = $$0[$1] parameter(1)\n"
                           "  c = $$0[$2] parameter(2)",
                           a, b, c)
              .c_str(),
          absl::Substitute("$$0[$0] concatenate(a, b, c), dimensions={$1}", r,
                           d)
              .c_str());
    }
  }
}

TEST(BoxMoverTest, ATransposeMovesPlanes) {
  for (const char* type : kTypes) {
    ExpectMovesAnywhere(
        type, "  a = $0[3,5,7,12,130] parameter(0)",
        "$0[7,3,5,12,130] transpose(a), dimensions={2,0,1,3,4}");
  }
}

TEST(BoxMoverTest, ATransposeMovesMorePlanesThanAWindowHas) {
  for (const char* type : kTypes) {
    ExpectMoves(absl::Substitute("  a = $0[2,3,4,5,12,130] parameter(0)", type),
                absl::Substitute("$0[5,3,2,4,12,130] transpose(a), "
                                 "dimensions={3,1,0,2,4,5}",
                                 type));
  }
}

// Those few that go one by one cost a step each: the smallest do.
TEST(BoxMoverTest, OfTooManyPlanesTheFewestGoOneByOne) {
  HarnessOptions options;
  options.emit = EmitBoxMover;
  const auto result = CompareKernel(R"(HloModule m
ENTRY e {
  a = f32[2,60,2,3,2,4] parameter(0)
  ROOT r = f32[2,60,2,3,2,4] transpose(a), dimensions={2,1,0,3,4,5}
})",
                                    options);
  ASSERT_OK(result.status());
  EXPECT_EQ(result->kernel.NumSteps(), 4);
}

TEST(BoxMoverTest, ADynamicSliceBeginsWhereDataSay) {
  for (const char* type : kTypes) {
    for (const int high : {1, 60, 400}) {
      for (const auto& [from, starts, to, n] :
           std::vector<std::tuple<const char*, const char*, const char*, int>>{
               {"4,70,300", "s0, s1, s2", "2,37,140", 3},
               {"4,70,300", "s0, s1, s2", "1,70,300", 3},
               {"50,300", "s0, s1", "32,300", 2},
               {"50,300", "s0, s1", "1,300", 2},
               {"50,300", "s0, s1", "50,128", 2},
               {"2000", "s0", "777", 1}}) {
        HarnessOptions options;
        options.chip = "v5e";
        options.low = -3;
        options.high = high;
        std::string hlo = absl::Substitute(
            "HloModule m\nENTRY e {\n  a = $0[$1] parameter(0)\n", type, from);
        for (int k = 0; k < n; ++k) {
          hlo += absl::Substitute("  s$0 = s32[] parameter($1)\n", k, k + 1);
        }
        hlo += absl::Substitute(
            "  ROOT r = $0[$1] dynamic-slice(a, $2), "
            "dynamic_slice_sizes={$1}\n}",
            type, to, starts);
        if (std::string(type) == "u8") options.low = 0;
        EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
        options.in_vmem = {0, n + 1};
        EXPECT_OK(CompareKernel(hlo, options).status()) << "VMEM " << hlo;
      }
    }
  }
}

// Several blocks in each dimension: registers of rows and lanes beyond the
// first block come from where they should.
// 251 tiles down, a prime: steps of many tiles, of which the last has fewer.
TEST(BoxMoverTest, AResultInVmemEndsWithAShorterBlock) {
  for (const char* type : {"f32", "bf16"}) {
    const int rows = type[0] == 'f' ? 2003 : 4011;
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{1}, std::vector<int>{0, 1}}) {
      ExpectMoves(
          absl::Substitute("  p = $0[$1,640] parameter(0)", type, rows + 5),
          absl::Substitute("$0[$1,640] slice(p), slice={[3:$2], [0:640]}", type,
                           rows, rows + 3),
          in_vmem);
    }
  }
}

TEST(BoxMoverTest, LargeArraysAreCut) {
  ExpectMoves("  a = f32[600,700] parameter(0)\n  f = f32[] constant(1)",
              "f32[650,900] pad(a, f), padding=13_37x100_100");
  ExpectMoves("  a = bf16[2,600,1300] parameter(0)",
              "bf16[2,550,1200] slice(a), slice={[0:2], [3:553], [70:1270]}");
  ExpectMoves("  a = bf16[300,8,130] parameter(0)",
              "bf16[300,8,130] reverse(a), dimensions={0}");
  ExpectMoves("  a = f32[300000] parameter(0)\n  b = f32[7777] parameter(1)",
              "f32[307777] concatenate(a, b), dimensions={0}");
}

}  // namespace
}  // namespace ptxla::lowering
