// Values that do not vary along all dimensions of a loop, and those that count
// along one: bundles against the evaluator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(LoopBroadcastTest, HalfPrecisionIsReadHoweverItVaries) {
  for (const char* chip : {"v3", "v4", "v5e"}) {
    for (const auto& [dims, map] :
         std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                          {"300", "2"},
                                                          {"37", "1"},
                                                          {"3", "0"},
                                                          {"3,300", "0,2"},
                                                          {"37,300", "1,2"}}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  x = f16[3,37,300] parameter(0)
  s = f16[$0] parameter(1)
  b = f16[3,37,300] broadcast(s), dimensions={$1}
  ROOT y = f16[3,37,300] add(x, b)
}
ENTRY e {
  x = f16[3,37,300] parameter(0)
  s = f16[$0] parameter(1)
  ROOT r = f16[3,37,300] fusion(x, s), kind=kLoop, calls=f
})",
                                               dims, map),
                              options)
                    .status())
          << chip << " [" << dims << "]";
    }
  }
}

// Elements of several planes lie apart: a source that is turned would need a
// transpose first.
TEST(LoopBroadcastTest, PlanesAlongRowsOrLanesAreRefused) {
  for (const auto& [source, map] :
       std::vector<std::pair<std::string, std::string>>{{"9,5,6", "3,0,2"},
                                                        {"6,5,9", "2,0,3"}}) {
    EXPECT_THAT(CompareKernel(absl::Substitute(R"(HloModule m
f {
  s = f32[$0] parameter(0)
  x = f32[5,7,6,9] parameter(1)
  b = f32[5,7,6,9] broadcast(s), dimensions={$1}
  ROOT y = f32[5,7,6,9] add(b, x)
}
ENTRY e {
  s = f32[$0] parameter(0)
  x = f32[5,7,6,9] parameter(1)
  ROOT r = f32[5,7,6,9] fusion(s, x), kind=kLoop, calls=f
})",
                                               source, map))
                    .status(),
                testing::StatusIs(absl::StatusCode::kUnimplemented,
                                  ::testing::HasSubstr("across its layout")))
        << source;
  }
}

// Values per row of planes of few rows: several planes are put on all lanes at
// once, whatever their number.
TEST(LoopBroadcastTest, PlanesOfRowsShareTheXlusInAnyNumber) {
  const auto program = [](int planes) {
    return absl::Substitute(R"(HloModule m
f {
  x = f32[$0,384,128] parameter(0)
  s = f32[$0,384] parameter(1)
  b = f32[$0,384,128] broadcast(s), dimensions={0,1}
  ROOT y = f32[$0,384,128] multiply(x, b)
}
ENTRY e {
  x = f32[$0,384,128] parameter(0)
  s = f32[$0,384] parameter(1)
  ROOT r = f32[$0,384,128] fusion(x, s), kind=kLoop, calls=f
})",
                            planes);
  };
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0, 1};
    ASSERT_OK_AND_ASSIGN(const HarnessResult eight,
                         CompareKernel(program(8), options));
    ASSERT_OK_AND_ASSIGN(const HarnessResult eleven,
                         CompareKernel(program(11), options));
    EXPECT_LT(eleven.cycles, 1.15 * 11 / 8 * eight.cycles) << chip;
  }
}

// A value for each plane of $0: mean or scale of a normalisation over planes.
std::string ValuePerPlane(const std::string& planes, const std::string& plane) {
  return absl::Substitute(R"(HloModule m
f {
  x = f32[$0,$1] parameter(0)
  s = f32[$0] parameter(1)
  t = bf16[$0] parameter(2)
  b = f32[$0,$1] broadcast(s), dimensions={0,1}
  d = f32[$0,$1] subtract(x, b)
  c = f32[$0] convert(t)
  u = f32[$0,$1] broadcast(c), dimensions={0,1}
  ROOT y = f32[$0,$1] multiply(d, u)
}
ENTRY e {
  x = f32[$0,$1] parameter(0)
  s = f32[$0] parameter(1)
  t = bf16[$0] parameter(2)
  ROOT r = f32[$0,$1] fusion(x, s, t), kind=kLoop, calls=f
})",
                          planes, plane);
}

TEST(LoopBroadcastTest, SeveralPlanesWaitForTheXluTogether) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0, 1, 2, 3};
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(ValuePerPlane("4,64", "64,64"), options));
    EXPECT_LT(result.cycles, 75 * 256) << chip;  // 90 to 140 each alone
  }
}

// exp(x - a plane), of planes that are `plane` large.
std::string ExponentialsOfPlanes(int planes, const std::string& plane) {
  return absl::Substitute(R"(HloModule m
f {
  x = bf16[$0,$1] parameter(0)
  w = f32[$0,$1] convert(x)
  s = f32[$1] parameter(1)
  b = f32[$0,$1] broadcast(s), dimensions={1,2}
  d = f32[$0,$1] subtract(w, b)
  e = f32[$0,$1] exponential(d)
  ROOT y = bf16[$0,$1] convert(e)
}
ENTRY e {
  x = bf16[$0,$1] parameter(0)
  s = f32[$1] parameter(1)
  ROOT r = bf16[$0,$1] fusion(x, s), kind=kLoop, calls=f
})",
                          planes, plane);
}

TEST(LoopBroadcastTest, PlanesOfAFewTilesShareABody) {
  for (const char* chip : {"v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0, 1, 2};
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(ExponentialsOfPlanes(96, "8,512"), options));
    EXPECT_LT(result.cycles, 4 * 96 * 4) << chip;  // 6 and more each alone
  }
}

TEST(LoopBroadcastTest, PlanesInABodyEqualTheEvaluatorInAnyNumber) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const int planes : {1, 7, 127, 130}) {
      for (const char* plane : {"1,7", "8,129", "9,127", "3,1000"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(ExponentialsOfPlanes(planes, plane), options)
                      .status())
            << chip << " " << planes << " of " << plane;
      }
    }
  }
}

TEST(LoopBroadcastTest, ValuesOfPlanesEqualTheEvaluatorInAnyNumber) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* planes : {"1,7", "3,16", "2,129", "8,12"}) {
      for (const char* plane : {"7,7", "20,129", "64,64"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(ValuePerPlane(planes, plane), options).status())
            << chip << " " << planes << " " << plane;
      }
    }
  }
}

TEST(LoopBroadcastTest, BroadcastsComeFromEveryDimension) {
  struct Case {
    const char* operand;
    const char* dims;
  };
  for (const char* type : {"f32", "bf16"}) {
    for (const Case& c :
         {Case{"", ""}, Case{"300", "2"}, Case{"37", "1"}, Case{"3", "0"},
          Case{"37,300", "1,2"}, Case{"3,300", "0,2"}, Case{"3,37", "0,1"}}) {
      const std::string text = absl::Substitute(
          R"(HloModule m
f {
  p = $0[$1] parameter(0)
  q = $0[3,37,300] parameter(1)
  b = $0[3,37,300] broadcast(p), dimensions={$2}
  ROOT s = $0[3,37,300] subtract(q, b)
}
ENTRY e {
  p = $0[$1] parameter(0)
  q = $0[3,37,300] parameter(1)
  ROOT r = $0[3,37,300] fusion(p, q), kind=kLoop, calls=f
})",
          type, c.operand, c.dims);
      EXPECT_OK(CompareKernel(text).status()) << type << " " << c.dims;
    }
  }
}

TEST(LoopBroadcastTest, AValuePerRowOfSeveralPlanes) {
  for (const char* type : {"f32", "bf16"}) {
    const std::string text = absl::Substitute(
        R"(HloModule m
f {
  p = $0[3,2,37] parameter(0)
  q = $0[3,2,37,130] parameter(1)
  b = $0[3,2,37,130] broadcast(p), dimensions={0,1,2}
  ROOT s = $0[3,2,37,130] subtract(q, b)
}
ENTRY e {
  p = $0[3,2,37] parameter(0)
  q = $0[3,2,37,130] parameter(1)
  ROOT r = $0[3,2,37,130] fusion(p, q), kind=kLoop, calls=f
})",
        type);
    EXPECT_OK(CompareKernel(text).status()) << type;
  }
}

TEST(LoopBroadcastTest, ADivisorPerRowIsInvertedOnceARow) {
  // Eight tiles a row: with a reciprocal for each of them, the EUP would take
  // a cycle a tile more.
  const auto cycles = [](absl::string_view op,
                         absl::string_view type) -> int64_t {
    const auto result = CompareKernel(absl::Substitute(R"(HloModule m
f {
  a = $1[512,1024] parameter(0)
  r = $1[512] parameter(1)
  rows = $1[512,1024] broadcast(r), dimensions={0}
  ROOT q = $1[512,1024] $0(a, rows)
}
ENTRY e {
  a = $1[512,1024] parameter(0)
  r = $1[512] parameter(1)
  ROOT k = $1[512,1024] fusion(a, r), kind=kLoop, calls=f
})",
                                                       op, type),
                                      {});
    EXPECT_OK(result.status());
    return result.ok() ? result->cycles : 0;
  };
  const int64_t tiles = 512 / 8 * 1024 / 128;
  for (const char* type : {"f32", "bf16"}) {
    EXPECT_LT(cycles("divide", type), cycles("multiply", type) + tiles / 2)
        << type;
  }
}

// Heads that several queries share: the array has them in the rows of its
// tiles, the result walks over them. Which row a head is, is known where tiles
// are walked from their first row on; nothing computes it.
TEST(LoopBroadcastTest, RowsOfTilesAreSpreadWithoutArithmetic) {
  for (const char* type : {"f32", "bf16"}) {
    for (int heads : {3, 8, 12, 24}) {
      const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  x = $0[64,$1,128] parameter(0)
  ROOT r = $0[64,$1,4,128] broadcast(x), dimensions={0,1,3}
})",
                                                type, heads);
      const auto result = CompareKernel(text);
      ASSERT_OK(result.status()) << type << " " << heads;
      // 512 heads, a store each; looking up their rows would take six bundles.
      if (heads == 8) {
        EXPECT_LT(result->cycles, 2 * 64 * heads) << type;
      }
    }
  }
}

// One that is longer than what a step reads besides comes block by block.
TEST(LoopBroadcastTest, ALongRowMovesWithTheSteps) {
  HarnessOptions options;
  options.chip = "v3";
  for (const char* type : {"f32", "bf16"}) {
    for (const int columns : {4194304, 4000000}) {
      const auto result = CompareKernel(absl::Substitute(R"(HloModule m
f {
  x = $0[2,$1] parameter(0)
  s = $0[$1] parameter(1)
  b = $0[2,$1] broadcast(s), dimensions={1}
  ROOT y = $0[2,$1] add(x, b)
}
ENTRY e {
  x = $0[2,$1] parameter(0)
  s = $0[$1] parameter(1)
  ROOT r = $0[2,$1] fusion(x, s), kind=kLoop, calls=f
})",
                                                         type, columns),
                                        options);
      ASSERT_OK(result.status()) << type << " " << columns;
      const isa::Window& row = result->kernel.windows[1];
      ASSERT_EQ(row.arg, 1);
      ASSERT_EQ(row.dims.size(), 1) << type << " " << columns;
      EXPECT_GE(row.dims[0].grid_dim, 0) << type << " " << columns;
      EXPECT_LT(row.dims[0].block, row.dims[0].extent);
    }
  }
}

TEST(LoopBroadcastTest, IotaCountsAlongItsDimension) {
  for (int d = 0; d < 3; ++d) {
    const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  ROOT r = s32[5,40,300] iota(), iota_dimension=$0
})",
                                              d);
    EXPECT_OK(CompareKernel(text).status()) << d;
  }
  EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  ROOT r = s32[5000] iota(), iota_dimension=0
})")
                .status());
}

}  // namespace
}  // namespace ptxla::lowering
