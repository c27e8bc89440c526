// Quantised tensors, and operations of chlo, arith, tensor and mhlo.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The values of `@main(%a: tensor<4xf32>) -> RESULT { BODY }` at `a`.
std::vector<double> ValuesOf(const std::string& result, const std::string& body,
                             const std::vector<float>& a) {
  auto module = ParseStableHlo(absl::StrCat(
      "func.func @main(%a: tensor<4xf32>) -> ", result, " {\n", body, "\n}"));
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  EXPECT_OK(VerifyModule(**module));
  const auto value = Evaluate(**module, {Literal::FromVector<float>({4}, a)});
  EXPECT_OK(value.status());
  std::vector<double> values;
  for (int64_t i = 0; value.ok() && i < value->ElementCount(); ++i) {
    values.push_back(value->GetDouble(i));
  }
  return values;
}

TEST(OtherDialectsTest, QuantisedTensorsAreStoredIntegers) {
  EXPECT_THAT(
      ValuesOf("tensor<4xf32>",
               "%0 = stablehlo.uniform_quantize %a : (tensor<4xf32>) -> "
               "tensor<4x!quant.uniform<i8:f32, 0.5:3>>\n"
               "%1 = stablehlo.uniform_dequantize %0 : "
               "(tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>\n"
               "return %1 : tensor<4xf32>",
               {1, -3.3F, 100, 0.25F}),
      ElementsAre(1, -3.5, 62, 0));
  // One scale for each column, and a narrower range.
  EXPECT_THAT(
      ValuesOf(
          "tensor<2x2xi8>",
          "%0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<2x2xf32>\n"
          "%1 = stablehlo.uniform_quantize %0 : (tensor<2x2xf32>) -> tensor<"
          "2x2x!quant.uniform<i8<-10:10>:f32:1, {0.25:-1, 2.0}>>\n"
          "%2 = stablehlo.bitcast_convert %1 : (tensor<2x2x!quant.uniform<"
          "i8<-10:10>:f32:1, {0.25:-1, 2.0}>>) -> tensor<2x2xi8>\n"
          "return %2 : tensor<2x2xi8>",
          {1, 5, 100, -7}),
      ElementsAre(3, 2, 10, -4));
}

TEST(OtherDialectsTest, ArithmeticOnQuantisedTensorsIsRefused) {
  EXPECT_THAT(
      ParseStableHlo("func.func @main(%a: tensor<4x!quant.uniform<i8:f32, "
                     "0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {\n"
                     "%0 = stablehlo.add %a, %a : tensor<4x!quant.uniform<"
                     "i8:f32, 0.5>>\n"
                     "return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>\n}")
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("2:1: stablehlo.add: arithmetic on quantised")));
  EXPECT_THAT(
      ParseStableHlo("func.func @main(%a: tensor<4x!quant.uniform<i8:f32, "
                     "0>>) { return }")
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("1:53: expected a positive scale")));
}

TEST(OtherDialectsTest, ChloStretchesOperands) {
  EXPECT_THAT(
      ValuesOf(
          "tensor<2x4xf32>",
          "%0 = stablehlo.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>\n"
          "%1 = chlo.broadcast_add %a, %0 : (tensor<4xf32>, tensor<2x1xf32>) "
          "-> tensor<2x4xf32>\n"
          "return %1 : tensor<2x4xf32>",
          {1, 2, 3, 4}),
      ElementsAre(2, 3, 4, 5, 3, 4, 5, 6));
  EXPECT_THAT(ValuesOf("tensor<4xf32>",
                       "%0 = \"chlo.constant_like\"(%a) {value = 3.5 : f32} : "
                       "(tensor<4xf32>) -> tensor<4xf32>\n"
                       "return %0 : tensor<4xf32>",
                       {1, 2, 3, 4}),
              ElementsAre(3.5, 3.5, 3.5, 3.5));
}

TEST(OtherDialectsTest, SlicesOfTheTensorDialect) {
  EXPECT_THAT(
      ValuesOf(
          "tensor<4xf32>",
          "%0 = \"arith.constant\"() {value = dense<7.0> : tensor<2xf32>} : () "
          "-> tensor<2xf32>\n"
          "%1 = \"tensor.insert_slice\"(%0, %a) {operand_segment_sizes = "
          "array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 1>, "
          "static_sizes = array<i64: 2>, static_strides = array<i64: 1>} : "
          "(tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>\n"
          "return %1 : tensor<4xf32>",
          {1, 2, 3, 4}),
      ElementsAre(1, 7, 7, 4));
  EXPECT_THAT(
      ValuesOf(
          "tensor<2xf32>",
          "%1 = \"tensor.extract_slice\"(%a) {operand_segment_sizes = "
          "array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 1>, "
          "static_sizes = array<i64: 2>, static_strides = array<i64: 2>} : "
          "(tensor<4xf32>) -> tensor<2xf32>\n"
          "return %1 : tensor<2xf32>",
          {1, 2, 3, 4}),
      ElementsAre(2, 4));
}

TEST(OtherDialectsTest, OperationsThatExportersWriteAsCustomCalls) {
  EXPECT_THAT(
      ValuesOf(
          "tensor<4xf32>",
          "%0 = stablehlo.custom_call @mhlo.asinh(%a) {mhlo.attributes = {}, "
          "mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>\n"
          "%1 = mhlo.sinh %0 : tensor<4xf32>\n"
          "%2 = stablehlo.round_nearest_even %1 : tensor<4xf32>\n"
          "return %2 : tensor<4xf32>",
          {1, -2, 3, 4}),
      ElementsAre(1, -2, 3, 4));
}

}  // namespace
}  // namespace ptxla::hlo
