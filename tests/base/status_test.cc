#include "base/status.h"

#include "tests/support/status_matchers.h"

namespace ptxla {
namespace {

using ::ptxla::testing::StatusIs;

absl::StatusOr<int> Half(int x) {
  if (x % 2 != 0) return absl::InvalidArgumentError("odd");
  return x / 2;
}

absl::StatusOr<int> Quarter(int x) {
  ASSIGN_OR_RETURN(int half, Half(x), _ << "halving " << x);
  ASSIGN_OR_RETURN(int quarter, Half(half));
  return quarter;
}

absl::Status CheckEven(int x) {
  RETURN_IF_ERROR(Half(x).status()) << "checking " << x;
  return absl::OkStatus();
}

TEST(StatusTest, ContextStandsInFrontOfTheReason) {
  EXPECT_THAT(Quarter(3),
              StatusIs(absl::StatusCode::kInvalidArgument, "halving 3: odd"));
  EXPECT_THAT(Quarter(2), StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
  EXPECT_THAT(CheckEven(5),
              StatusIs(absl::StatusCode::kInvalidArgument, "checking 5: odd"));
}

TEST(StatusTest, SuccessPassesTheValueOn) {
  ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(8));
  EXPECT_EQ(quarter, 2);
  EXPECT_OK(CheckEven(4));
}

}  // namespace
}  // namespace ptxla
