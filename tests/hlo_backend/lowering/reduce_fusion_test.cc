// Reductions by operation, type and dimensions: bundles against the evaluator.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// reduce of type $0, dims $1, over dimensions $2, to result dims $3, by $4
// from $5.
std::string Reduce(absl::string_view type, absl::string_view dims,
                   absl::string_view over, absl::string_view result,
                   absl::string_view op = "add", absl::string_view init = "0") {
  return absl::Substitute(R"(HloModule m
g {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT z = $0[] $4(x, y)
}
ENTRY e {
  a = $0[$1] parameter(0)
  i = $0[] constant($5)
  ROOT r = $0[$3] reduce(a, i), dimensions={$2}, to_apply=g
})",
                          type, dims, over, result, op, init);
}

// Planes of one low tile, several at a time: their lines may share a bank.
TEST(ReduceTest, AMinorOneOfLowTilesInVmemIsDropped) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0};
    for (const auto& text : {Reduce("f32", "16,2,1", "2", "16,2"),
                             Reduce("f32", "128,2,1", "2", "128,2"),
                             Reduce("f32", "16,3,1", "2", "16,3"),
                             Reduce("f32", "16,8,1", "2", "16,8")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// 128 times as many bytes as elements: the array moves along with the grid.
TEST(ReduceTest, AMinorOneBeyondVmemIsDropped) {
  for (const char* chip : {"v3", "v5e"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text : {Reduce("f32", "130,256,1", "2", "130,256"),
                             Reduce("f32", "36864,1", "1", "36864")}) {
      ASSERT_OK_AND_ASSIGN(const auto result, CompareKernel(text, options));
      EXPECT_TRUE(std::any_of(
          result.kernel.windows.begin(), result.kernel.windows.end(),
          [](const isa::Window& w) { return w.arg == 0 && w.slots > 1; }))
          << chip << text;
    }
  }
}

TEST(ReduceTest, SumsOverLanesSublanesMajorsAndSeveral) {
  for (const char* chip : {"v6e", "v4", "unit", "v3", "v2"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Reduce("f32", "1000", "0", ""), Reduce("f32", "5000", "0", ""),
          Reduce("f32", "7,129", "1", "7"), Reduce("f32", "7,129", "0", "129"),
          Reduce("f32", "7,129", "0,1", ""),
          Reduce("f32", "300,127", "1", "300"),
          Reduce("f32", "300,127", "0", "127"),
          Reduce("f32", "3,37,300", "2", "3,37"),
          Reduce("f32", "3,37,300", "1", "3,300"),
          Reduce("f32", "3,37,300", "0", "37,300"),
          Reduce("f32", "3,37,300", "0,2", "37"),
          Reduce("f32", "3,37,300", "0,1", "300"),
          Reduce("f32", "3,37,300", "1,2", "3"),
          Reduce("f32", "3,37,300", "0,1,2", "")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

// Tiles of 1, 2 and 4 rows lie densely: the last register may be filled in
// part.
TEST(ReduceTest, LowTilesThatDoNotFillTheLastRegisterAreSummedAlone) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const auto& text :
         {Reduce("f32", "4,128", "0,1", ""), Reduce("f32", "1,640", "0,1", ""),
          Reduce("f32", "3,2,384", "0,1,2", ""),
          Reduce("bf16", "4,640", "0,1", "", "maximum", "-inf"),
          Reduce("f32", "4,128000", "0,1", "", "maximum", "-inf")}) {
      EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
    }
  }
}

TEST(ReduceTest, OtherOperationsAndTypes) {
  for (const auto& text :
       {Reduce("f32", "37,300", "1", "37", "maximum", "-inf"),
        Reduce("f32", "37,300", "0,1", "", "minimum", "inf"),
        Reduce("f32", "37,30", "1", "37", "add", "2.5"),
        Reduce("f32", "37,30", "0,1", "", "add", "2.5"),
        Reduce("s32", "37,300", "1", "37", "add", "0"),
        Reduce("s32", "37,300", "0,1", "", "add", "0"),
        Reduce("pred", "37,300", "1", "37", "or", "false"),
        Reduce("pred", "37,300", "0", "300", "and", "true"),
        Reduce("bf16", "300,129", "1", "300", "maximum", "-inf"),
        Reduce("bf16", "300,129", "0", "129", "maximum", "-inf")}) {
    EXPECT_OK(CompareKernel(text).status()) << text;
  }
}

// Results leave the block of the loop as rows of 128, 16 row tiles at a time;
// two rows of bf16 share their words; a dimension before them chooses the
// sublane.
TEST(ReduceTest, BlocksFinishTheirOwnRows) {
  for (const char* chip : {"v6e", "v5e", "v5p", "v4", "v2"}) {
    HarnessOptions options;
    options.chip = chip;
    options.absolute = 0.02;
    for (const char* type : {"f32", "bf16"}) {
      const char* least = "-inf";
      for (const auto& text :
           {Reduce(type, "1000,257", "1", "1000", "maximum", least),
            Reduce(type, "129,1000", "0", "1000", "maximum", least),
            Reduce(type, "70,8,300", "1", "70,300", "maximum", least),
            Reduce(type, "9,260,129", "2", "9,260", "maximum", least),
            Reduce(type, "3,11,129,40", "2", "3,11,40", "maximum", least),
            Reduce(type, "9,16,300", "0", "16,300", "maximum", least),
            Reduce(type, "5,9,16,130", "0,3", "9,16", "maximum", least),
            Reduce(type, "24,8,300", "1", "24,300", "minimum", "inf"),
            Reduce(type, "40,128,100", "0,2", "128", "maximum", least),
            Reduce(type, "5001,300", "1", "5001", "maximum", least),
            Reduce(type, "300,5001", "0", "5001", "maximum", least),
            Reduce(type, "2600,127", "1", "2600", "add", "0.5")}) {
        EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
      }
    }
  }
}

TEST(ReduceTest, SeveralGridStepsShareOnePartialResult) {
  HarnessOptions options;
  options.absolute = 1e-4;  // one chain of 375 terms per sublane
  EXPECT_OK(
      CompareKernel(Reduce("f32", "3001,1000", "0", "1000"), options).status());
  EXPECT_OK(
      CompareKernel(Reduce("f32", "3001,1000", "1", "3001"), options).status());
  options.absolute = 0.01;  // three million terms
  EXPECT_OK(
      CompareKernel(Reduce("f32", "3001,1000", "0,1", ""), options).status());
}

TEST(ReduceTest, AFusionReducesWhatItComputes) {
  EXPECT_OK(CompareKernel(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = bf16[100,768] parameter(0)
  m = f32[100] parameter(1)
  c = f32[100,768] convert(a)
  b = f32[100,768] broadcast(m), dimensions={0}
  d = f32[100,768] subtract(c, b)
  q = f32[100,768] multiply(d, d)
  i = f32[] constant(0)
  s = f32[100] reduce(q, i), dimensions={1}, to_apply=g
  t = f32[100] reduce(d, i), dimensions={1}, to_apply=g
  o = bf16[100,768] convert(d)
  ROOT r = (f32[100], f32[100], bf16[100,768]) tuple(s, t, o)
}
ENTRY e {
  a = bf16[100,768] parameter(0)
  m = f32[100] parameter(1)
  ROOT r = (f32[100], f32[100], bf16[100,768]) fusion(a, m), kind=kInput, calls=f
})")
                .status());
}

// Attention: a value per row in, a value per row out, over many planes that
// share blocks of code.
TEST(ReduceTest, PlanesOfRowsGoTogether) {
  for (const char* chip : {"v5e", "v6e", "v4"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const char* type : {"f32", "bf16"}) {
      for (const char* dims : {"4,6,128", "3,5,37", "2,4,200"}) {
        for (const int reduced : {3, 2}) {
          const std::string planes(dims, 3);
          const std::string result = reduced == 3 ? dims : planes + ",72";
          const std::string text = absl::Substitute(
              R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = $0[$1,72] parameter(0)
  m = $0[$1] parameter(1)
  i = f32[] constant(0)
  b = $0[$1,72] broadcast(m), dimensions={0,1,2}
  c = f32[$1,72] convert(a)
  e = f32[$1,72] convert(b)
  d = f32[$1,72] subtract(c, e)
  ROOT s = f32[$2] reduce(d, i), dimensions={$3}, to_apply=g
}
ENTRY e {
  a = $0[$1,72] parameter(0)
  m = $0[$1] parameter(1)
  ROOT r = f32[$2] fusion(a, m), kind=kInput, calls=f
})",
              type, dims, result, reduced);
          EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
        }
      }
    }
  }
}

// Sums that go on from one block to the next stay in their registers, also
// where the planes of a block are one straight piece.
TEST(ReduceFusionTest, SumsOverPlanesInBlocksOfSeveralPlanes) {
  HarnessOptions options;
  options.chip = "v5e";
  options.relative = options.absolute = 1e-3;
  EXPECT_OK(CompareKernel(R"(
    HloModule m
    add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT c = f32[] add(a, b) }
    f { p = f32[8,512] parameter(0)
        q = f32[7,7,8,512] parameter(1)
        r = f32[512] parameter(2)
        s = f32[512] parameter(3)
        z = f32[] constant(0)
        pb = f32[7,7,8,512] broadcast(p), dimensions={2,3}
        rb = f32[7,7,8,512] broadcast(r), dimensions={3}
        sb = f32[7,7,8,512] broadcast(s), dimensions={3}
        x = f32[7,7,8,512] add(pb, q)
        y = f32[7,7,8,512] multiply(x, rb)
        w = f32[7,7,8,512] subtract(x, sb)
        x1 = f32[512] reduce(x, z), dimensions={0,1,2}, to_apply=add
        y1 = f32[512] reduce(y, z), dimensions={0,1,2}, to_apply=add
        w1 = f32[512] reduce(w, z), dimensions={0,1,2}, to_apply=add
        ROOT t = (f32[7,7,8,512], f32[512], f32[512], f32[512]) tuple(x, x1, y1, w1) }
    ENTRY e {
        p = f32[8,512] parameter(0)
        q = f32[7,7,8,512] parameter(1)
        r = f32[512] parameter(2)
        s = f32[512] parameter(3)
        ROOT t = (f32[7,7,8,512], f32[512], f32[512], f32[512]) fusion(p, q, r, s), kind=kInput, calls=f })",
                          options)
                .status());
}

// Rows of one tile of bf16 are transposed two in a word.
std::string RowsOfBf16(absl::string_view dims, absl::string_view kept,
                       int dimension, absl::string_view op,
                       absl::string_view result) {
  return absl::Substitute(R"(HloModule m
o {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] $3(x, y)
}
f {
  a = bf16[$0] parameter(0)
  w = f32[$0] convert(a)
  i = f32[] constant($5)
  r = f32[$1] reduce(w, i), dimensions={$2}, to_apply=o
  ROOT c = $4[$1] convert(r)
}
ENTRY e {
  a = bf16[$0] parameter(0)
  ROOT k = $4[$1] fusion(a), kind=kInput, calls=f
})",
                          dims, kept, dimension, op, result,
                          op == "add" ? "0" : "-inf");
}

TEST(ReduceTest, RowsOfOneTileOfBf16GoInPairs) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* result : {"bf16", "f32"}) {
      for (const char* op : {"add", "maximum"}) {
        for (const int rows : {100, 129, 256, 391, 1000, 2048}) {
          HarnessOptions options;
          options.chip = chip;
          EXPECT_OK(CompareKernel(RowsOfBf16(absl::StrCat(rows, ",96"),
                                             absl::StrCat(rows), 1, op, result),
                                  options)
                        .status())
              << chip << " " << result << " " << op << " " << rows;
        }
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(RowsOfBf16("5,391,128", "5,391", 2, op, result),
                                options)
                      .status())
            << chip << " " << result << " " << op;
      }
    }
  }
}

TEST(ReduceTest, PairsOfRowsHalveTheWorkOfTheTransposeUnit) {
  HarnessOptions options;
  options.chip = "v6e";
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult pairs,
      CompareKernel(RowsOfBf16("8192,128", "8192", 1, "add", "f32"), options));
  std::string wide = RowsOfBf16("8192,128", "8192", 1, "add", "f32");
  absl::StrReplaceAll({{"bf16", "f32"}}, &wide);
  ASSERT_OK_AND_ASSIGN(const HarnessResult words, CompareKernel(wide, options));
  EXPECT_LT(pairs.cycles, words.cycles * 3 / 4);
}

}  // namespace
}  // namespace ptxla::lowering
