#include "hlo_backend/proto/literal_proto.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

proto::LiteralProto Proto(absl::string_view text) {
  auto literal = ParseLiteral(text);
  EXPECT_OK(literal.status());
  proto::LiteralProto out;
  EXPECT_OK(ToProto(*literal, &out));
  return out;
}

TEST(LiteralProtoTest, ValuesStandInTheOrderOfTheLayout) {
  const proto::LiteralProto p = Proto("f32[2,3]{0,1} {{1, 2, 3}, {4, 5, 6}}");
  ASSERT_EQ(p.f32s_size(), 6);
  EXPECT_EQ(p.f32s(1), 4);
  EXPECT_EQ(p.f32s(4), 3);
}

TEST(LiteralProtoTest, EveryTypeComesBack) {
  for (const char* text :
       {"pred[2] {1, 0}",
        "s4[3] {1, -2, 7}",
        "u4[3] {1, 15, 7}",
        "s8[2] {-128, 127}",
        "u8[2] {0, 255}",
        "s16[2] {-3, 300}",
        "u16[1] {65535}",
        "s32[] -5",
        "u32[] 4294967295",
        "s64[] -5",
        "u64[] 18446744073709551615",
        "f16[2] {1.5, -inf}",
        "bf16[2] {1.5, 3}",
        "f32[2,2]{0,1} {{1, 2}, {3, 4}}",
        "f64[] 0.1",
        "f8e4m3fn[2] {1, -2}",
        "f8e5m2[2] {1, -2}",
        "c64[2] {(1, 2), (3, -4)}",
        "c128[] (1, 2)",
        "f32[0] {}",
        "f32[2,3,2]{1,2,0} {{{1,2},{3,4},{5,6}},{{7,8},{9,10},{11,12}}}"}) {
    auto literal = ParseLiteral(text);
    ASSERT_OK(literal.status()) << text;
    auto again = FromProto(Proto(text));
    ASSERT_OK(again.status()) << text;
    EXPECT_TRUE(*again == *literal) << text << " became " << again->ToString();
  }
}

// {1, -2, 3} of s4 as XLA serializes it.
TEST(LiteralProtoTest, NarrowIntegersTakeAByteEach) {
  EXPECT_EQ(Proto("s4[3] {1, -2, 3}").s4s(), std::string("\001\016\003"));
}

TEST(LiteralProtoTest, AnElidedLiteralHasNoValues) {
  auto literal = ParseLiteral("f32[100] {...}");
  ASSERT_OK(literal.status());
  proto::LiteralProto p;
  ASSERT_OK(ToProto(*literal, &p));
  EXPECT_EQ(p.f32s_size(), 0);
  auto again = FromProto(p);
  ASSERT_OK(again.status());
  EXPECT_TRUE(again->IsElided());
}

TEST(LiteralProtoTest, TheNumberOfValuesMustFit) {
  proto::LiteralProto p = Proto("f32[3] {1, 2, 3}");
  p.add_f32s(4);
  EXPECT_THAT(
      FromProto(p).status(),
      ptxla::testing::StatusIs(absl::StatusCode::kInvalidArgument,
                               ::testing::HasSubstr("4 values instead of 3")));
}

}  // namespace
}  // namespace ptxla::hlo
