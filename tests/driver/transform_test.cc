// Does each stretch of the chain that starts at a traced graph work on text?
#include "driver/transform.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;
using testing::StatusIs;

constexpr char kGraph[] = R"(IR {
  %0 = f32[8,128]{1,0} xla::device_data(), data=0, label="x", donate
  %1 = f32[8,128]{1,0} aten::tanh(%0), scope="layer.0", ROOT=0
}
)";

TransformOptions From(Stage from, Stage to) {
  TransformOptions options;
  options.from = from;
  options.to = to;
  return options;
}

TEST(TransformTest, ALazyGraphToItselfIsCheckedAndPrinted) {
  ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Transform(kGraph, "g.lazy", From(Stage::kLazy, Stage::kLazy)));
  EXPECT_EQ(text, kGraph);
}

TEST(TransformTest, ALazyGraphIsLoweredToHlo) {
  ASSERT_OK_AND_ASSIGN(
      const std::string text,
      Transform(kGraph, "g.lazy", From(Stage::kLazy, Stage::kHlo)));
  EXPECT_THAT(text, HasSubstr("%tanh.2 = f32[8,128]{1,0} tanh(%p0.1)"));
  EXPECT_THAT(text, HasSubstr("buffer_donor={ (0, {}) }"));
  EXPECT_THAT(text, HasSubstr("op_name=\"layer.0/aten__tanh\""));
}

TEST(TransformTest, ABadLazyGraphNamesFileAndLine) {
  EXPECT_THAT(
      Transform("IR {\n  %0 = f32[] aten::tanh(%9)\n}", "g.lazy",
                From(Stage::kLazy, Stage::kHlo)),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("g.lazy: 2: ")));
}

TEST(TransformTest, TheChainDoesNotRunBackwards) {
  EXPECT_THAT(Transform("", "g.hlo", From(Stage::kHlo, Stage::kLazy)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cannot go back from hlo to lazy")));
}

}  // namespace
}  // namespace ptxla::driver
