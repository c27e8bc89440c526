#include "hlo_backend/evaluator/npz.h"

#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/zip.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

TEST(NpzTest, EveryTypeSurvivesARoundTrip) {
  NamedLiterals arrays;
  for (int k = 0; k <= static_cast<int>(PrimitiveType::kBuffer); ++k) {
    const PrimitiveType type = static_cast<PrimitiveType>(k);
    if (!IsArrayType(type)) continue;
    Literal literal(Shape::Array(type, {2, 3}));
    for (int i = 0; i < 6; ++i) {
      if (IsComplex(type)) {
        literal.SetComplex(i, {i * 0.5, -1});
      } else if (type != PrimitiveType::kF8E8M0Fnu) {
        literal.SetDouble(i, i % 2);
      }
    }
    arrays.emplace_back(std::string(PrimitiveTypeName(type)) + "_x", literal);
  }
  arrays.emplace_back("scalar", Literal::Scalar<float>(2.5f));
  arrays.emplace_back(
      "splat", Literal::Splat(Shape::Array(PrimitiveType::kBf16, {4}), 3));
  const auto bytes = FormatNpz(arrays);
  ASSERT_OK(bytes.status());
  const auto back = ParseNpz(*bytes);
  ASSERT_OK(back.status());
  ASSERT_EQ(back->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*back)[i].first, arrays[i].first);
    EXPECT_EQ((*back)[i].second.ToString(), arrays[i].second.ToString());
    EXPECT_TRUE(
        (*back)[i].second.shape().SameDimsAndType(arrays[i].second.shape()));
  }
}

TEST(NpzTest, SameArraysGiveTheSameBytes) {
  const NamedLiterals arrays = {{"a", Literal::Scalar<int32_t>(7)}};
  EXPECT_EQ(*FormatNpz(arrays), *FormatNpz(arrays));
}

TEST(NpyTest, HeaderIsNumPys) {
  const std::string npy =
      FormatNpy(Literal::FromVector<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(npy.size() % 64, 24u);  // 6 floats after whole lines
  EXPECT_THAT(npy, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                             "'shape': (2, 3), }"));
  EXPECT_THAT(FormatNpy(Literal::FromVector<float>({2}, {1, 2})),
              HasSubstr("'shape': (2,), }"));
  EXPECT_THAT(FormatNpy(Literal::Scalar<float>(1)),
              HasSubstr("'shape': (), }"));
}

TEST(NpyTest, FortranOrderIsTurned) {
  std::string npy =
      FormatNpy(Literal::FromVector<int32_t>({2, 2}, {1, 2, 3, 4}));
  npy.replace(npy.find("False"), 5, "True ");
  const auto literal = ParseNpy(npy);
  ASSERT_OK(literal.status());
  EXPECT_EQ(literal->ToString(), "{ { 1, 3 }, { 2, 4 } }");
}

TEST(NpzTest, DamageIsNoticed) {
  const std::string bytes = *FormatNpz({{"a", Literal::Scalar<float>(1)}});
  EXPECT_FALSE(ParseNpz("").ok());
  EXPECT_FALSE(ParseNpz("no archive at all, but long enough").ok());
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(ParseNpz(bytes.substr(0, i)).ok()) << i;
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    (void)ParseNpz(damaged).ok();  // must not crash
  }
  EXPECT_FALSE(ParseNpy("\x93NUMPY").ok());
}

TEST(NpzTest, TuplesAreRefused) {
  const Literal tuple = Literal::Tuple({Literal::Scalar<float>(1)});
  EXPECT_THAT(FormatNpz({{"t", tuple}}).status().message(),
              HasSubstr("not an array"));
}

}  // namespace
}  // namespace ptxla::hlo
