// What values may integers have, by what computes them?
#include "hlo_backend/analysis/integer_range.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Of the root of an entry with parameter x, s32[8].
IntegerRange RangeOfRoot(const std::string& body) {
  auto module = ParseModule(
      absl::StrCat("HloModule m\nENTRY e {\n  x = s32[8] parameter(0)\n"
                   "  zero = s32[] constant(0)\n  most = s32[] constant(99)\n",
                   body, "\n}\n"));
  EXPECT_OK(module.status());
  return RangeOf(*(*module)->entry()->root());
}

void ExpectRange(const std::string& body, int64_t least, int64_t most) {
  const IntegerRange range = RangeOfRoot(body);
  EXPECT_EQ(range.least, least) << body;
  EXPECT_EQ(range.most, most) << body;
}

constexpr int64_t kLeast = -(int64_t{1} << 31), kMost = (int64_t{1} << 31) - 1;

TEST(IntegerRangeTest, OfWhatIsBounded) {
  ExpectRange("  ROOT r = s32[8] clamp(zero, x, most)", 0, 99);
  ExpectRange(
      "  m = s32[8] broadcast(most), dimensions={}\n"
      "  ROOT r = s32[8] minimum(x, m)",
      kLeast, 99);
  ExpectRange("  ROOT r = s32[5,8] iota(), iota_dimension=1", 0, 7);
  ExpectRange("  ROOT r = s32[3] constant({5, -2, 7})", -2, 7);
}

TEST(IntegerRangeTest, OfSumsAndMultiples) {
  const std::string clamped =
      "  c = s32[8] clamp(zero, x, most)\n"
      "  ten = s32[] constant(10)\n"
      "  tens = s32[8] broadcast(ten), dimensions={}\n"
      "  i = s32[8] iota(), iota_dimension=0\n";
  ExpectRange(clamped +
                  "  t = s32[8] multiply(c, tens)\n"
                  "  ROOT r = s32[8] add(t, i)",
              0, 997);
  ExpectRange(clamped + "  ROOT r = s32[8] subtract(i, c)", -99, 7);
  ExpectRange(clamped + "  ROOT r = s32[8] remainder(c, tens)", 0, 9);
  ExpectRange(clamped + "  ROOT r = s32[16] concatenate(c, i), dimensions={0}",
              0, 99);
}

// Sums of any numbers wrap around.
TEST(IntegerRangeTest, OfWhatMayBeAnything) {
  ExpectRange("  ROOT r = s32[8] negate(x)", kLeast, kMost);
  ExpectRange(
      "  one = s32[] constant(1)\n"
      "  ones = s32[8] broadcast(one), dimensions={}\n"
      "  ROOT r = s32[8] add(x, ones)",
      kLeast, kMost);
  ExpectRange("  ROOT r = s32[8] multiply(x, x)", kLeast, kMost);
}

TEST(IntegerRangeTest, ThroughFusionsAndTheirOperands) {
  auto module = ParseModule(R"(HloModule m
f {
  p = s32[8] parameter(0)
  i = s32[8] iota(), iota_dimension=0
  s = s32[8] add(p, i)
  ROOT t = (s32[8], s32[8]) tuple(i, s)
}
ENTRY e {
  x = s32[8] parameter(0)
  zero = s32[] constant(0)
  most = s32[] constant(99)
  c = s32[8] clamp(zero, x, most)
  f = (s32[8], s32[8]) fusion(c), kind=kLoop, calls=f
  ROOT r = s32[8] get-tuple-element(f), index=1
})");
  ASSERT_OK(module.status());
  const IntegerRange range = RangeOf(*(*module)->entry()->root());
  EXPECT_EQ(range.least, 0);
  EXPECT_EQ(range.most, 106);
}

}  // namespace
}  // namespace ptxla::hlo
