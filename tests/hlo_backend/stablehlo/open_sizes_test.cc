// Programs whose arguments have open dimensions (tensor<?x4xf32>), with sizes.

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// @main of one argument %x: tensor<?x2xf32>, with %n its size and %v that as a
// vector.
std::string Program(const std::string& result, const std::string& body,
                    const std::string& functions = "") {
  return absl::StrCat(
      "module @m {\nfunc.func public @main(%x: tensor<?x2xf32>) -> ", result,
      " {\n%n = stablehlo.get_dimension_size %x, dim = 0 : "
      "(tensor<?x2xf32>) -> tensor<i32>\n"
      "%v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
      "%two = stablehlo.constant dense<2> : tensor<1xi32>\n"
      "%zeros = stablehlo.constant dense<0> : tensor<2xi32>\n"
      "%ones = stablehlo.constant dense<1> : tensor<2xi32>\n"
      "%shape = stablehlo.concatenate %v, %two, dim = 0 : (tensor<1xi32>, "
      "tensor<1xi32>) -> tensor<2xi32>\n",
      body, "}\n", functions, "}\n");
}

// The result for three rows 1 2, 3 4, 5 6.
std::string ValueOf(const std::string& text) {
  auto module = ParseStableHlo(text, "m", {3});
  EXPECT_OK(module.status());
  if (!module.ok()) return "";
  EXPECT_OK(VerifyModule(**module));
  EXPECT_THAT(Print(**module), Not(HasSubstr("?")));
  const auto value = Evaluate(
      **module, {Literal::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_OK(value.status());
  return value.ok() ? value->ToString() : "";
}

TEST(OpenSizesTest, WhatIsComputedOfSizesIsKnown) {
  const struct {
    const char *type, *body, *want;
  } cases[] = {
      {"tensor<?x2xf32>",
       "%c = stablehlo.constant dense<1.0> : tensor<f32>\n"
       "%b = stablehlo.dynamic_broadcast_in_dim %c, %shape, dims = [] : "
       "(tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>\n"
       "%r = stablehlo.add %x, %b : tensor<?x2xf32>\n"
       "return %r : tensor<?x2xf32>\n",
       "{ { 2, 3 }, { 4, 5 }, { 6, 7 } }"},
      {"tensor<?x2xi32>",
       "%r = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> "
       "tensor<?x2xi32>\nreturn %r : tensor<?x2xi32>\n",
       "{ { 0, 0 }, { 1, 1 }, { 2, 2 } }"},
      {"tensor<?xf32>",
       "%t = stablehlo.multiply %v, %two : tensor<1xi32>\n"
       "%r = stablehlo.dynamic_reshape %x, %t : (tensor<?x2xf32>, "
       "tensor<1xi32>) -> tensor<?xf32>\nreturn %r : tensor<?xf32>\n",
       "{1, 2, 3, 4, 5, 6}"},
      {"tensor<?x2xf32>",
       "%r = stablehlo.real_dynamic_slice %x, %ones, %shape, %ones : "
       "(tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> "
       "tensor<?x?xf32>\nreturn %r : tensor<?x?xf32>\n",
       "{ {4}, {6} }"},
      {"tensor<?x2xf32>",
       "%c = stablehlo.constant dense<9.0> : tensor<f32>\n"
       "%h = stablehlo.constant dense<[1, 0]> : tensor<2xi32>\n"
       "%r = stablehlo.dynamic_pad %x, %c, %zeros, %h, %zeros : "
       "(tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, "
       "tensor<2xi32>) -> tensor<?x2xf32>\nreturn %r : tensor<?x2xf32>\n",
       "{ { 1, 2 }, { 3, 4 }, { 5, 6 }, { 9, 9 } }"},
      {"tensor<?x2xf32>",
       "%c = stablehlo.constant dense<0.0> : tensor<f32>\n"
       "%one = stablehlo.constant dense<1> : tensor<1xi32>\n"
       "%w = stablehlo.concatenate %v, %one, dim = 0 : (tensor<1xi32>, "
       "tensor<1xi32>) -> tensor<2xi32>\n"
       "%p = stablehlo.constant dense<[[2, 0], [0, 0]]> : tensor<2x2xi32>\n"
       "%r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %c, "
       "%w, %ones, %ones, %ones, %p) {called_computations = [@sum]} : "
       "(tensor<?x2xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, "
       "tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x2xf32>\n"
       "return %r : tensor<?x2xf32>\n",
       "{ { 1, 2 }, { 4, 6 }, { 9, 12 } }"},
      // A call has the shapes of its own arguments; a loop takes sizes along.
      {"tensor<?x2xf32>",
       "%r = call @twice(%n, %x) : (tensor<i32>, tensor<?x2xf32>) -> "
       "tensor<?x2xf32>\nreturn %r : tensor<?x2xf32>\n",
       "{ { 4, 5 }, { 6, 7 }, { 8, 9 } }"},
  };
  const char* functions =
      "func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> "
      "tensor<f32> {\n%0 = stablehlo.add %a, %b : tensor<f32>\n"
      "return %0 : tensor<f32>\n}\n"
      "func.func private @twice(%k: tensor<i32>, %a: tensor<?x2xf32>) -> "
      "tensor<?x2xf32> {\n"
      "%z = stablehlo.constant dense<0> : tensor<i32>\n"
      "%s:2 = stablehlo.while(%i = %z, %y = %a) : tensor<i32>, "
      "tensor<?x2xf32>\ncond {\n%c = stablehlo.compare LT, %i, %k : "
      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %c : tensor<i1>\n} do {\n"
      "%o = stablehlo.constant dense<1> : tensor<i32>\n"
      "%j = stablehlo.add %i, %o : tensor<i32>\n"
      "%m = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>\n"
      "%t = stablehlo.constant dense<2> : tensor<1xi32>\n"
      "%h = stablehlo.concatenate %m, %t, dim = 0 : (tensor<1xi32>, "
      "tensor<1xi32>) -> tensor<2xi32>\n"
      "%f = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "%b = stablehlo.dynamic_broadcast_in_dim %f, %h, dims = [] : "
      "(tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>\n"
      "%w = stablehlo.add %y, %b : tensor<?x2xf32>\n"
      "stablehlo.return %j, %w : tensor<i32>, tensor<?x2xf32>\n}\n"
      "return %s#1 : tensor<?x2xf32>\n}\n";
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    std::string value = ValueOf(Program(c.type, c.body, functions));
    EXPECT_EQ(value, c.want);
  }
}

TEST(OpenSizesTest, WhatTheExporterDemandsIsChecked) {
  const std::string text = Program(
      "tensor<?x2xf32>",
      "%most = stablehlo.constant dense<2> : tensor<i32>\n"
      "%ok = stablehlo.compare LE, %n, %most : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "stablehlo.custom_call @shape_assertion(%ok, %n) {api_version = 2 : "
      "i32, error_message = \"b = {0} is above 2\", has_side_effect = true} : "
      "(tensor<i1>, tensor<i32>) -> ()\nreturn %x : tensor<?x2xf32>\n");
  EXPECT_OK(ParseStableHlo(text, "m", {2}).status());
  EXPECT_THAT(ParseStableHlo(text, "m", {3}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("stablehlo.custom_call: b = 3 is above 2")));
}

TEST(OpenSizesTest, AsManySizesAsOpenDimensions) {
  const std::string text =
      Program("tensor<?x2xf32>", "return %x : tensor<?x2xf32>\n");
  EXPECT_THAT(
      ParseStableHlo(text, "m", {3, 4}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("2 sizes for 1 open dimensions (%x f32[?,2])")));
  EXPECT_THAT(ParseStableHlo(text, "m", {-3}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the size -3 is negative")));
}

TEST(OpenSizesTest, WithoutSizesTheWayOutIsNamed) {
  for (const char* body :
       {"%r = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<2xi32>) -> "
        "tensor<?x2xf32>\nreturn %r : tensor<?x2xf32>\n",
        "%r = stablehlo.dynamic_reshape %x, %shape : (tensor<?x2xf32>, "
        "tensor<2xi32>) -> tensor<?x2xf32>\nreturn %r : tensor<?x2xf32>\n"}) {
    EXPECT_THAT(ParseStableHlo(Program("tensor<?x2xf32>", body), "m").status(),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("m:9:1: "), HasSubstr("(--sizes)"))));
  }
}

// All programs of the corpus that have open dimensions.
TEST(OpenSizesTest, CorpusFilesWithOpenDimensions) {
  const auto folder = ::ptxla::testing::SharedPath("hlo_corpus/jax_export");
  if (!folder.ok()) GTEST_SKIP() << folder.status();
  const struct {
    const char* name;
    std::vector<int64_t> sizes;
  } cases[] = {{"stablehlo_dynamic_approx_top_k_0", {12}},
               {"stablehlo_dynamic_rng_bit_generator_0", {3, 4}},
               {"stablehlo_dynamic_top_k_0", {8}},
               {"stablehlo_dynamic_top_k_1", {8}},
               {"tpu_stablehlo_dynamic_reduce_window_0", {8}},
               {"tpu_stablehlo_dynamic_reduce_window_1", {8, 8}}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto text = ReadFile(absl::StrCat(*folder, "/", c.name, ".mlir"));
    ASSERT_OK(text.status());
    const auto module = ParseStableHlo(*text, "m", c.sizes);
    ASSERT_OK(module.status());
    EXPECT_OK(VerifyModule(**module));
    EXPECT_FALSE((*module)->entry()->root()->shape().HasUnboundedDims());
    EXPECT_THAT(Print(**module), Not(HasSubstr("stablehlo.dynamic")));
  }
}

}  // namespace
}  // namespace ptxla::hlo
