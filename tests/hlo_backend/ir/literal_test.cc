#include "hlo_backend/ir/literal.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// What XLA prints for each input (first), which we must print too (second).
TEST(LiteralTest, PrintsAsXlaDoes) {
  struct {
    const char* in;
    const char* out;
  } cases[] = {
      {"f32[2,3] {{1,2,3},{4,nan,-inf}}", "{ { 1, 2, 3 }, { 4, nan, -inf } }"},
      {"bf16[4] {1.1,2,3.25,1e10}", "{1.102, 2, 3.25, 9.999e+09}"},
      {"f16[] 0.1", "0.099976"},
      {"f32[2] {0.1,3.40282347e+38}", "{0.1, 3.40282347e+38}"},
      {"f32[2] {0.1234567,16777217}", "{0.123456702, 16777216}"},
      {"f64[2] {0.12345678901234567,1e300}", "{0.12345678901234566, 1e+300}"},
      {"c64[2] {(1,nan),(0.1,-3)}", "{(1, nan), (0.1, -3)}"},
      {"pred[] true", "true"},
      {"pred[2,2] {{true,false},{1,0}}", "{ { 1, 0 }, { 1, 0 } }"},
      {"s4[3] {1,-2,3}", "{1, -2, 3}"},
      {"f8e4m3fn[4] {1,0.1,448,nan}", "{1, 0.102, 448, nan}"},
      {"f8e5m2[4] {1,0.1,57344,inf}", "{1, 0.094, 5.7e+04, inf}"},
      {"f8e3m4[3] {1,0.1,6}", "{1, 0.0938, 6}"},
      {"f8e8m0fnu[2] {1,0.25}", "{1, 0.25}"},
      {"f4e2m1fn[3] {1,0.5,6}", "{1, 0.5, 6}"},
      {"f32[2,0] {{},{}}", "{ {}, {} }"},
      {"f32[0,3] {}", "{  }"},
      {"s32[2,1] {{1},{2}}", "{ {1}, {2} }"},
      {"f32[1,2] {{5,6}}", "{ { 5, 6 } }"},
      {"u64[] 18446744073709551615", "18446744073709551615"},
      {"bf16[3] {-nan,-inf,65536}", "{-nan, -inf, 6.554e+04}"},
      {"f32[2] {1e-45,1.17549435e-38}", "{1.4013e-45, 1.17549435e-38}"},
      {"f32[] nan(0x7fffff)", "nan(0x7fffff)"},
      {"f32[100] {...}", "{...}"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.in);
    ASSERT_OK_AND_ASSIGN(Literal literal, ParseLiteral(c.in));
    EXPECT_EQ(literal.ToString(), c.out);
  }
}

TEST(LiteralTest, ErrorsNameThePlace) {
  struct {
    const char* in;
    const char* message;
  } cases[] = {
      {"f32[2] {1,2,3}", "1:13: dimension 0 of f32[2] has more elements"},
      {"f32[3] {1,2}", "has 2 elements here, not 3"},
      {"s8[] 200", "1:6: 200 is out of range for s8"},
      {"u8[] -1", "1:6: -1 is out of range for u8"},
      {"s32[] 1.5", "1:7: expected an integer, got \"1.5\""},
      {"f32[] x", "1:7: expected a number, got \"x\""},
      {"f32[1000000] {1}", "the text is too short for f32[1000000]"},
      {"f32[2]{0} {1,2", "expected '}', got the end of the text"},
      {"f32[] nan(0x7fc00001)", "is out of range for f32"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseLiteral(c.in), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr(c.message)));
  }
}

TEST(LiteralTest, F32IsRoundedOnceFromDecimal) {
  // A hair above half way between two floats: as a double it is the half way
  // itself, which would go to the even neighbour below.
  ASSERT_OK_AND_ASSIGN(
      Literal x, ParseLiteral("f32[] 1.000000059604644775390625000000001"));
  EXPECT_EQ(x.Get<float>(0), std::nextafterf(1, 2));
}

TEST(LiteralTest, ASplatEqualsItsExpansion) {
  const Shape shape = Shape::Array(PrimitiveType::kBf16, {4, 4});
  const Literal splat = Literal::Splat(shape, 1.5);
  Literal expanded = splat;
  expanded.mutable_bytes();
  EXPECT_TRUE(splat.IsSplat());
  EXPECT_FALSE(expanded.IsSplat());
  EXPECT_TRUE(expanded.IsUniform());
  EXPECT_EQ(splat, expanded);
  EXPECT_EQ(splat.Fingerprint(), expanded.Fingerprint());
  expanded.SetDouble(5, 2);
  EXPECT_FALSE(splat == expanded);
  EXPECT_FALSE(expanded.IsUniform());
  EXPECT_EQ(splat.GetDouble(5), 1.5);
}

TEST(LiteralTest, StoringSaturatesIntegersAndRoundsFloats) {
  Literal s8(Shape::Array(PrimitiveType::kS8, {2}));
  s8.SetDouble(0, 1e9);
  s8.SetDouble(1, -1e9);
  EXPECT_EQ(s8.GetInt(0), 127);
  EXPECT_EQ(s8.GetInt(1), -128);
  Literal s4(Shape::Scalar(PrimitiveType::kS4));
  s4.SetInt(0, -3);
  EXPECT_EQ(s4.GetInt(0), -3);
  Literal bf16(Shape::Scalar(PrimitiveType::kBf16));
  bf16.SetDouble(0, 1.00390625);  // half way: to even
  EXPECT_EQ(bf16.GetDouble(0), 1.0);
  Literal u64(Shape::Scalar(PrimitiveType::kU64));
  u64.SetDouble(0, 1e19);
  EXPECT_EQ(static_cast<uint64_t>(u64.GetInt(0)), 10000000000000000000u);
}

TEST(LiteralTest, IsAllLooksAtEveryElement) {
  EXPECT_TRUE(Literal::FromVector<float>({2}, {3, 3}).IsAll(3));
  EXPECT_FALSE(Literal::FromVector<float>({2}, {3, 4}).IsAll(3));
  EXPECT_FALSE(Literal(Shape::Array(PrimitiveType::kF32, {0})).IsAll(0));
}

}  // namespace
}  // namespace ptxla::hlo
