// Errors of StableHLO text: what, and where.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

absl::Status Read(const std::string& body) {
  return ParseStableHlo(
             absl::StrCat("module {\nfunc.func @main(%a: tensor<2xf32>) -> "
                          "tensor<2xf32> {\n",
                          body, "\n}}"),
             "f.mlir")
      .status();
}

TEST(StableHloErrorsTest, FileLineColumnOperationAndRule) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  EXPECT_THAT(Read("  %0 = stablehlo.add %a, %b : tensor<2xf32>\n"
                   "return %0 : tensor<2xf32>"),
              StatusIs(kInvalid, HasSubstr("f.mlir:3:3: ")));
  EXPECT_THAT(Read("%0 = stablehlo.add %a, %b : tensor<2xf32>").message(),
              HasSubstr("stablehlo.add: unknown value %b"));
  EXPECT_THAT(Read("%0 = stablehlo.frobnicate %a : tensor<2xf32>\n"
                   "return %0 : tensor<2xf32>"),
              StatusIs(kUnimplemented,
                       HasSubstr("stablehlo.frobnicate: HLO has no such")));
  EXPECT_THAT(Read("%0 = stablehlo.reshape %a : (tensor<2xf32>) -> "
                   "tensor<3xf32>\nreturn %0 : tensor<3xf32>"),
              StatusIs(kInvalid, HasSubstr("f.mlir:3:1: stablehlo.reshape")));
  EXPECT_THAT(Read("%0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : "
                   "tensor<2xf32>"),
              StatusIs(kInvalid, HasSubstr("f.mlir:3:")));
  EXPECT_THAT(Read("%0 = stablehlo.negate %a : tensor<2xf33>"),
              StatusIs(kInvalid, HasSubstr("unknown element type \"f33\"")));
  EXPECT_THAT(Read("%0 = stablehlo.negate %a : tensor<2xf32>"),
              StatusIs(kInvalid, HasSubstr("without a return")));
  EXPECT_THAT(Read("%0 = func.call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>"),
              StatusIs(kInvalid, HasSubstr("no function @g")));
  EXPECT_THAT(
      Read("%0 = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>"),
      StatusIs(kUnimplemented, HasSubstr("@main calls itself")));
  EXPECT_THAT(Read("%0 = \"stablehlo.negate\"(%a"),
              StatusIs(kInvalid, HasSubstr("expected \")\"")));
  EXPECT_THAT(ParseStableHlo("module { ").status(),
              StatusIs(kInvalid, HasSubstr("expected \"}\"")));
  EXPECT_THAT(ParseStableHlo("").status(),
              StatusIs(kInvalid, HasSubstr("no function")));
}

TEST(StableHloErrorsTest, AShardingNamesAxesOfItsMesh) {
  EXPECT_THAT(ParseStableHlo(R"(module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
})")
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the mesh has no axis 'y'")));
}

}  // namespace
}  // namespace ptxla::hlo
