// What arrays of dynamic size does the padder refuse, and how?
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

absl::Status Padded(const char* text) {
  auto module = ParseModule(text);
  if (!module.ok()) return module.status();
  return Pipeline::FromNames("dynamic-padder")->Run(module->get(), {}).status();
}

TEST(DynamicPadderTest, ALoopsStateHasNoDynamicSize) {
  EXPECT_THAT(Padded(R"(
HloModule loop
body {
  x = f32[<=8] parameter(0)
  ROOT y = f32[<=8] add(x, x)
}
more {
  x = f32[<=8] parameter(0)
  ROOT yes = pred[] constant(true)
}
ENTRY main {
  x = f32[8] parameter(0)
  n = s32[] parameter(1)
  some = f32[<=8] set-dimension-size(x, n), dimensions={0}
  ROOT w = f32[<=8] while(some), condition=more, body=body
})"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("of an array of dynamic size")));
}

TEST(DynamicPadderTest, AReshapeAcrossADynamicDimensionIsNamed) {
  EXPECT_THAT(
      Padded(R"(
HloModule reshapes
ENTRY main {
  x = f32[8,4] parameter(0)
  n = s32[] parameter(1)
  some = f32[<=8,4] set-dimension-size(x, n), dimensions={0}
  ROOT flat = f32[<=32] reshape(some)
})"),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("%flat (reshape)")));
}

}  // namespace
}  // namespace ptxla::hlo
