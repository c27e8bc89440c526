// Floats that are rounded to nearest even and become integers: quantisation.
// Counts are the TPU compiler's (libtpu 0.0.42.1, 1 M elements).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/vector_operations.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kChips[] = {"v2",  "v3",  "v4",    "v5e",
                                  "v5p", "v6e", "tpu7x", "unit"};

// Halves, so that there are ties: of x, steps of 1/2 as `from`, then `formula`,
// whose last value is `value`, to `to`.
std::string Program(absl::string_view formula, absl::string_view to,
                    absl::string_view dims,
                    absl::string_view results = "r = $0[$1] convert(v)") {
  const std::string body = absl::Substitute(results, to, dims);
  return absl::Substitute(R"(HloModule m
f {
  p = s32[$0] parameter(0)
  n = f32[$0] convert(p)
  half = f32[] constant(0.5)
  halves = f32[$0] broadcast(half), dimensions={}
  x = f32[$0] multiply(n, halves)
  l = f32[] constant(-128)
  h = f32[] constant(127)
  low = f32[$0] broadcast(l), dimensions={}
  high = f32[$0] broadcast(h), dimensions={}
  $1
  ROOT $2
}
ENTRY e {
  p = s32[$0] parameter(0)
  ROOT r = $3[$0] fusion(p), kind=kLoop, calls=f
})",
                          dims, absl::Substitute(formula, dims), body, to);
}

constexpr const char* kRounded = "v = f32[$0] round-nearest-even(x)";
constexpr const char* kRoundedFirst = R"(i = f32[$0] round-nearest-even(x)
  v = f32[$0] clamp(low, i, high))";
constexpr const char* kRoundedLast = R"(i = f32[$0] maximum(x, low)
  j = f32[$0] minimum(high, i)
  v = f32[$0] round-nearest-even(j))";
constexpr const char* kCutOff = "v = f32[$0] floor(x)";
constexpr const char* kBounded = "v = f32[$0] clamp(l, x, h)";
constexpr const char* kBelow = "v = f32[$0] minimum(x, high)";

TEST(RoundingConversionTest, ValuesAreTheEvaluators) {
  for (const char* chip : kChips) {
    for (const char* formula :
         {kRounded, kRoundedFirst, kRoundedLast, kCutOff, kBounded, kBelow}) {
      for (const char* to : {"s8", "u8", "s16", "s32", "u32"}) {
        for (const char* dims : {"1", "1000", "7,129", "40,300"}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = -700;
          options.high = 700;
          EXPECT_OK(CompareKernel(Program(formula, to, dims), options).status())
              << chip << " " << to << " " << dims << "\n"
              << formula;
        }
      }
    }
  }
}

TEST(RoundingConversionTest, HalfBytesAreTheEvaluators) {
  for (const char* chip : {"v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* formula : {kRounded, kRoundedFirst, kBelow}) {
      for (const char* to : {"s4", "u4"}) {
        for (const char* dims : {"1", "5000", "7,129", "33,300"}) {
          HarnessOptions options;
          options.chip = chip;
          options.low = -40;
          options.high = 40;
          EXPECT_OK(CompareKernel(Program(formula, to, dims), options).status())
              << chip << " " << to << " " << dims << "\n"
              << formula;
        }
      }
    }
  }
}

TEST(RoundingConversionTest, LargeNumbersKeepTheirLastBit) {
  for (const char* chip : kChips) {
    HarnessOptions options;
    options.chip = chip;
    options.low = -3e9;
    options.high = 3e9;
    EXPECT_OK(CompareKernel(Program(kRounded, "s32", "7,129"), options))
        << chip;
  }
}

TEST(RoundingConversionTest, WhatOthersReadOfARoundedNumberIsRounded) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = -300;
    options.high = 300;
    EXPECT_OK(CompareKernel(R"(HloModule m
f {
  x = f32[40,300] parameter(0)
  i = f32[40,300] round-nearest-even(x)
  c = s8[40,300] convert(i)
  ROOT r = (f32[40,300], s8[40,300]) tuple(i, c)
}
ENTRY e {
  x = f32[40,300] parameter(0)
  ROOT r = (f32[40,300], s8[40,300]) fusion(x), kind=kLoop, calls=f
})",
                            options))
        << chip;
  }
}

struct Row {
  const char* op;
  std::string body;
  const char* to;
  std::map<std::string, double> theirs;
};

TEST(RoundingConversionTest, CountsAreThoseOfTheTpuCompiler) {
  const std::string scaled = R"(  m = f32[1048576] multiply(x, ten)
  i = f32[1048576] round-nearest-even(m)
)";
  const auto bounded = [&](const char* low, const char* high) {
    return absl::Substitute(R"($0  l = f32[] constant($1)
  h = f32[] constant($2)
  v = f32[1048576] clamp(l, i, h)
)",
                            scaled, low, high);
  };
  const std::string rounded = "  v = f32[1048576] round-nearest-even(x)\n";
  const std::vector<Row> rows = {
      {"scaled, rounded, bounded to s8",
       bounded("-127", "127"),
       "s8",
       {{"v4", 14}, {"v5e", 5}, {"v6e", 5}}},
      {"scaled, rounded, bounded to u8",
       bounded("0", "255"),
       "u8",
       {{"v4", 14}, {"v5e", 5}, {"v6e", 5}, {"tpu7x", 5}}},
      {"scaled, rounded, bounded to s4",
       bounded("-7", "7"),
       "s4",
       {{"v6e", 6}, {"tpu7x", 5}}},
      {"scaled, rounded, bounded to s16",
       bounded("-32768", "32767"),
       "s16",
       {{"v4", 9.5}, {"v5e", 4.5}, {"v6e", 4.5}, {"tpu7x", 4.5}}},
      {"rounded to s8", rounded, "s8", {{"v5e", 5}, {"v6e", 4}}},
      {"rounded to s32",
       rounded,
       "s32",
       {{"v5e", 1}, {"v6e", 1}, {"tpu7x", 1}}},
      {"cut off to s32",
       "  v = f32[1048576] floor(x)\n",
       "s32",
       {{"v5e", 2}, {"v6e", 3}, {"tpu7x", 3}}},
  };
  for (const Row& row : rows) {
    for (const auto& [chip, theirs] : row.theirs) {
      const std::string program = absl::Substitute(R"(HloModule m
f {
  x = f32[1048576] parameter(0)
  c = f32[] constant(10)
  ten = f32[1048576] broadcast(c), dimensions={}
$0  ROOT r = $1[1048576] convert(v)
}
ENTRY e {
  x = f32[1048576] parameter(0)
  ROOT r = $1[1048576] fusion(x), kind=kLoop, calls=f
})",
                                                   row.body, row.to);
      EXPECT_NEAR(VectorOperations(program, chip, 1 << 20), theirs, 1.05)
          << chip << " " << row.op;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
