// Every kind of malformed text: where it is, and what was expected there.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/stablehlo/stablehlo.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

struct Malformed {
  const char* body;     // lines 3 on of a function on %a: tensor<2xf32>
  const char* place;    // "3:5"
  const char* message;  // a part of it
};

constexpr Malformed kBodies[] = {
    // Words and punctuation.
    {"%0 = ", "4:1", "expected an operation"},
    {"% = stablehlo.negate %a : tensor<2xf32>", "3:1",
     "expected the name of a value"},
    {"%0 stablehlo.negate %a : tensor<2xf32>", "3:4", "expected \"=\""},
    {"%0:x = stablehlo.negate %a : tensor<2xf32>", "3:4",
     "expected an integer"},
    {"%0 = stablehlo.negate %a tensor<2xf32>", "4:1",
     "expected \":\" and types"},
    {"%0 = stablehlo.negate %a : tensor<2xf32", "4:1", "expected \">\""},
    {"%0 = stablehlo.negate %a : tensor<2yf32>", "3:35",
     "expected an element type"},
    {"%0 = stablehlo.negate %a : tensor<2xf33>", "3:37",
     "unknown element type \"f33\""},
    {"%0 = stablehlo.negate %a : tensor<*xf32>", "3:34",
     "tensors without a rank"},
    {"%0 = stablehlo.negate %a : tensor<2xcomplex<i32>>", "3:37",
     "a complex number is of f32 or f64"},
    {"%0 = stablehlo.negate %a : tuple<i32, memref<2xi32>>", "3:39",
     "a tuple holds tensors and tuples"},
    {"%0 = \"stablehlo.negate\"(%a : (tensor<2xf32>) -> tensor<2xf32>", "3:28",
     "expected \")\""},
    {"%0 = \"stablehlo.negate\"(%a) : tensor<2xf32>", "4:1", "expected \"->\""},
    {"%0 = \"stablehlo.negate(%a) : tensor<2xf32>", "3:6",
     "the string does not end"},
    {"%0 = \"stablehlo.negate\"(%a)[^bb1] : () -> ()", "3:29",
     "branches between blocks"},
    {"%0 = stablehlo.custom_call @\"a\\qb\"(%a) : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "3:31", "unknown escape"},
    // Attributes.
    {"%0 = stablehlo.negate %a {1 = 2} : tensor<2xf32>", "3:27",
     "expected the name of an attribute"},
    {"%0 = stablehlo.negate %a {a = } : tensor<2xf32>", "3:31",
     "expected an attribute"},
    {"%0 = stablehlo.negate %a {a = [1, 2} : tensor<2xf32>", "3:36",
     "expected \"]\""},
    {"%0 = stablehlo.negate %a {a = #foo<1} : tensor<2xf32>", "3:37",
     "expected \">\""},
    {"%0 = stablehlo.negate %a {a = array<i64 1>} : tensor<2xf32>", "3:41",
     "expected \">\""},
    // Constants.
    {"%0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>", "3:42",
     "does not have the shape"},
    {"%0 = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<2xf32>", "3:33",
     "nests too deep"},
    {"%0 = stablehlo.constant dense<[1.0]> : tensor<2xf32>", "3:31",
     "has 1 elements"},
    {"%0 = stablehlo.constant dense<[1.0, x]> : tensor<2xf32>", "3:37",
     "expected a number"},
    {"%0 = stablehlo.constant dense<\"0xZZ\"> : tensor<2xf32>", "3:31",
     "expected \"0x...\""},
    {"%0 = stablehlo.constant dense<\"0x0000\"> : tensor<2xf32>", "3:31",
     "2 bytes are no f32[2]"},
    {"%0 = stablehlo.constant dense<1.0> : tensor<?xf32>", "3:25",
     "tensors of known size"},
    {"%0 = stablehlo.convolution(%a, %a) dim_numbers = [b, f]x[o, i]->"
     "[b, ?, f], window = {} {batch_group_count = 1 : i64, "
     "feature_group_count = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> "
     "tensor<2xf32>",
     "3:1", "its dimensions are not numbered once each"},
    {"%0 = stablehlo.negate %a {mhlo.frontend_attributes = {a$b = \"c\"}} : "
     "tensor<2xf32>",
     "3:1", "frontend attribute \"a$b\" is no name"},
    // Values and functions.
    {"%0 = stablehlo.add %a, %b : tensor<2xf32>", "3:1",
     "stablehlo.add: unknown value %b"},
    {"%0 = stablehlo.add %a, %a#1 : tensor<2xf32>", "3:1",
     "unknown value %a#1"},
    {"%0:2 = stablehlo.negate %a : tensor<2xf32>, tensor<2xf32>", "3:1",
     "its result is"},
    {"%0 = func.call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>", "3:1",
     "no function @g"},
    {"%0 = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>", "3:1",
     "@main calls itself"},
    {"%0 = stablehlo.negate %a : tensor<2xf32>", "2:1", "without a return"},
    // Operations.
    {"%0 = stablehlo.frobnicate %a : tensor<2xf32>", "3:1",
     "HLO has no such operation"},
    {"%0 = shape.shape_of %a : tensor<2xf32>", "3:1",
     "shape.shape_of: HLO has no such operation"},
    {"%0 = stablehlo.negate %a : tensor<3xf32>", "3:1", "its type says"},
    {"%0 = stablehlo.add %a : tensor<2xf32>", "3:1", "stablehlo.add: "},
    {"%0 = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<3xf32>", "3:1",
     "stablehlo.reshape: "},
    {"%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2xf32>) "
     "-> tensor<2x3xf32>",
     "3:1", "2 dimensions for an operand of rank 1"},
    {"%0 = stablehlo.compare XX, %a, %a : (tensor<2xf32>, tensor<2xf32>) -> "
     "tensor<2xi1>",
     "3:1", "unknown comparison \"XX\""},
    {"%0 = \"stablehlo.transpose\"(%a) : (tensor<2xf32>) -> tensor<2xf32>",
     "3:1", "the attribute permutation is missing"},
    {"%0 = \"stablehlo.transpose\"(%a) {permutation = \"x\"} : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "3:1", "is no list of integers"},
    {"%0 = stablehlo.slice %a [0:1, 0:1] : (tensor<2xf32>) -> tensor<1xf32>",
     "3:1", "stablehlo.slice: "},
    {"%0 = stablehlo.slice %a [0-1] : (tensor<2xf32>) -> tensor<1xf32>", "3:27",
     "expected \":\""},
    {"%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "
     "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
     "3:1", "stablehlo.dot_general: "},
    {"%0 = stablehlo.reduce(%a init: %a) across dimensions = [0] : "
     "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
     "4:1", "expected \"reducer\""},
    {"%0 = stablehlo.reduce(%a) across dimensions = [0] : (tensor<2xf32>) -> "
     "tensor<f32>",
     "3:25", "expected \"init:\""},
    {"%0 = stablehlo.while(%i = %a) : tensor<2xf32>, tensor<2xf32> cond {} do "
     "{}",
     "3:32", "as many types as values"},
    {"%0 = \"stablehlo.all_reduce\"(%a) ({^b(%x: tensor<f32>, %y: "
     "tensor<f32>): stablehlo.return %x : tensor<f32>}) : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "3:1", "replica_groups are missing"},
    {"%0 = stablehlo.negate %a {mhlo.sharding = \"{devices=\"} : "
     "tensor<2xf32>",
     "3:1", "mhlo.sharding"},
    {"%0 = stablehlo.negate %a {sdy.sharding = "
     "#sdy.sharding_per_value<[<@nomesh, [{}]>]>} : tensor<2xf32>",
     "3:1", "unknown mesh @nomesh"},
    {"%0 = \"stablehlo.infeed\"(%a) : (tensor<2xf32>) -> (tensor<2xf32>, "
     "!stablehlo.token)",
     "3:1", "its last operand is a token"},
    {"%0 = stablehlo.composite \"a.b\" %a : (tensor<2xf32>) -> tensor<2xf32>",
     "3:1", "it has a name and a decomposition"},
    {"%0 = stablehlo.negate %a : !foo.bar", "3:1", "HLO has no type !foo.bar"},
};

TEST(MalformedStableHloTest, EachKindHasItsPlaceAndWhatWasExpected) {
  for (const Malformed& m : kBodies) {
    SCOPED_TRACE(m.body);
    const auto module = ParseStableHlo(
        absl::StrCat("module {\nfunc.func @main(%a: tensor<2xf32>) -> "
                     "tensor<2xf32> {\n",
                     m.body, "\n}}"),
        "f.mlir");
    ASSERT_FALSE(module.ok());
    EXPECT_THAT(std::string(module.status().message()),
                ::testing::StartsWith(absl::StrCat("f.mlir:", m.place, ": ")));
    EXPECT_THAT(module.status().message(), HasSubstr(m.message));
  }
}

TEST(MalformedStableHloTest, SoHasAModule) {
  constexpr Malformed kModules[] = {
      {"", "1:1", "the module has no function"},
      {"module {", "1:9", "expected \"}\""},
      {"module {}", "1:1", "the module has no function"},
      {"module @ {}", "1:9", "expected the name of a symbol"},
      {"module { func.func main() }", "1:24", "the name of a function"},
      {"module { func.func @main() }", "1:10", "a function without a body"},
      {"module {\n func.func @f() { return }\n func.func @f() { return } }",
       "3:2", "the function @f exists already"},
      {"module { func.func @f() { ^a: return\n^b: return } }", "2:1",
       "regions have one block"},
      {"module { llvm.func @f() { return } }", "1:36",
       "expected \":\" and types"},
      {"module { \"llvm.func\"() : () -> () }", "1:10",
       "llvm.func: this is no function"},
      {"#a = ", "1:6", "expected an attribute"},
      {"module { sdy.mesh @m = <[\"x\"=0]>\n func.func @f() { return } }",
       "1:10", "the mesh is empty"},
      {"module attributes {mhlo.num_replicas = -2 : i32} { func.func @f() { "
       "return } }",
       "1:1", "a negative number of devices"},
  };
  for (const Malformed& m : kModules) {
    SCOPED_TRACE(m.body);
    const auto module = ParseStableHlo(m.body, "f.mlir");
    ASSERT_FALSE(module.ok());
    EXPECT_THAT(std::string(module.status().message()),
                ::testing::StartsWith(absl::StrCat("f.mlir:", m.place, ": ")));
    EXPECT_THAT(module.status().message(), HasSubstr(m.message));
  }
}

}  // namespace
}  // namespace ptxla::hlo
