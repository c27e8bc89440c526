#include "hlo_backend/ir/shape.h"

#include <cstdint>
#include <set>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// Shapes as XLA prints them; each must print back to itself.
TEST(ShapeTest, TextRoundTrips) {
  for (const char* text : {
           "f32[]",
           "f32[2,3]{1,0}",
           "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}",
           "s4[3]{0:E(4)}",
           "f32[<=8,4]{1,0}",
           "f32[?,4]{1,0}",
           "(f32[2]{0}, s32[], token[])",
           "((f32[2]{0}), ())",
           "f32[16]{0:T(128)}",
           "f32[]{:T(128)}",
           "u32[]{:S(2)}",
           "f8e4m3b11fnuz[1,2]{0,1}",
           "f32[2,3]{1,0:T(*,128)L(1024)M(16)}",
           "s32[4]{0:D(C)#(u32)*(u16)}",
           "b(f32[2,2]{1,0})",
           "opaque[]",
           "c128[0]{0}",
       }) {
    ASSERT_OK_AND_ASSIGN(Shape shape, ParseShape(text));
    EXPECT_EQ(shape.ToStringWithLayout(), text);
  }
}

TEST(ShapeTest, AFingerprintWithLayoutSeesAllThatALayoutSays) {
  std::set<uint64_t> seen;
  for (const char* text :
       {"s4[8,8]{1,0}", "s4[8,8]{0,1}", "s4[8,8]{1,0:E(4)}",
        "s4[8,8]{1,0:S(1)}", "s4[8,8]{1,0:T(8,128)}", "s4[8,8]{1,0:T(8)(128)}",
        "s4[8,8]{1,0:T(8,128)S(1)}", "s4[8,8]{1,0:L(1024)}",
        "s4[8,8]{1,0:M(16)}", "s4[8,8]{1,0:#(u32)}", "s4[8,8]{1,0:*(u32)}",
        "s4[8,8]{1,0:D(D,C)}"}) {
    ASSERT_OK_AND_ASSIGN(Shape shape, ParseShape(text));
    EXPECT_TRUE(seen.insert(shape.Fingerprint(/*with_layout=*/true)).second)
        << text;
    EXPECT_EQ(shape.Fingerprint(), ParseShape("s4[8,8]")->Fingerprint());
  }
}

TEST(ShapeTest, ErrorsNameThePlace) {
  struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"f33[2]", "1:1: expected a shape, got \"f33\""},
      {"f32[2", "1:6: expected ']'"},
      {"f32[-2]", "1:5: a dimension is negative"},
      {"f32[2,3]{0}", "1:9: the layout has 1 dimensions, the shape has 2"},
      {"f32[2,3]{1,1}", "1:9: dimension 1 of the layout"},
      {"f32[2,3]{1,0:X(1)}", "1:14: unknown layout property \"X\""},
      {"(f32[2], s32[]", "1:15: expected ')'"},
      {"f32[2] x", "1:8: expected the end of the text"},
      {"f32[99999999999999999999]", "1:5: 99999999999999999999 is out of"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ParseShape(c.text), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr(c.message)));
  }
}

TEST(ShapeTest, BytesPackTypesBelowAByteAndSumTuples) {
  EXPECT_EQ(Shape::Array(PrimitiveType::kS4, {3}).ByteSize(), 2);
  EXPECT_EQ(Shape::Array(PrimitiveType::kF6E3M2Fn, {4}).ByteSize(), 3);
  EXPECT_EQ(Shape::Array(PrimitiveType::kC128, {2, 2}).ByteSize(), 64);
  EXPECT_EQ(Shape::Tuple({Shape::Scalar(PrimitiveType::kF32), Shape::Token(),
                          Shape::Array(PrimitiveType::kPred, {5})})
                .ByteSize(),
            9);
}

TEST(ShapeTest, ElementCountSaturates) {
  EXPECT_EQ(
      Shape::Array(PrimitiveType::kF32, {int64_t{1} << 40, int64_t{1} << 40})
          .ElementCount(),
      INT64_MAX);
}

TEST(ShapeTest, ChangingACopyOfATupleLeavesTheOriginal) {
  const Shape a = Shape::Tuple({Shape::Scalar(PrimitiveType::kF32)});
  Shape b = a;
  b.mutable_element(0)->set_type(PrimitiveType::kS32);
  EXPECT_EQ(a.ToString(), "(f32[])");
  EXPECT_EQ(b.ToString(), "(s32[])");
}

TEST(ShapeTest, EqualityCountsLayoutsAndDynamicDims) {
  const Shape plain = Shape::Array(PrimitiveType::kF32, {2, 3});
  Shape laid_out = plain;
  laid_out.set_layout(Layout::RowMajor(2));
  Shape dynamic = plain;
  dynamic.set_dynamic_dim(0, true);
  EXPECT_NE(plain, laid_out);
  EXPECT_NE(plain, dynamic);
  EXPECT_TRUE(plain.SameDimsAndType(laid_out));
  EXPECT_TRUE(plain.SameDimsAndType(dynamic));
}

}  // namespace
}  // namespace ptxla::hlo
