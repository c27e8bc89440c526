#include "driver/stage.h"

#include "gtest/gtest.h"

namespace ptxla::driver {
namespace {

TEST(StageTest, TheFirstMarkStays) {
  const absl::Status inner = At("parse", absl::InvalidArgumentError("x"));
  EXPECT_EQ(StageOf(At("run", inner)), "parse");
  EXPECT_EQ(At("run", inner).message(), "x");
}

TEST(StageTest, OkStaysOkAndUnmarkedErrorsHaveNoStage) {
  EXPECT_TRUE(At("parse", absl::OkStatus()).ok());
  EXPECT_EQ(StageOf(absl::InternalError("x")), "");
}

TEST(StageTest, ExitCodesAreTheDocumentedOnes) {
  EXPECT_EQ(ExitCode(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCode(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCode(absl::NotFoundError("")), 2);
  EXPECT_EQ(ExitCode(absl::UnavailableError("")), 2);
  EXPECT_EQ(ExitCode(absl::ResourceExhaustedError("")), 3);
  EXPECT_EQ(ExitCode(absl::InternalError("")), 4);
  EXPECT_EQ(ExitCode(absl::FailedPreconditionError("")), 4);
  EXPECT_EQ(ExitCode(absl::UnimplementedError("")), 5);
}

}  // namespace
}  // namespace ptxla::driver
