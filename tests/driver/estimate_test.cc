// What --unknown-ops=estimate says where there is no kernel.
#include "absl/strings/substitute.h"
#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

absl::StatusOr<Prediction> Sorted(int64_t numbers) {
  const ::ptxla::testing::TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", absl::Substitute(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[$0] parameter(0)
  ROOT s = f32[$0] sort(x), dimensions={0}, to_apply=less
})",
                                                       numbers));
  request.topology = "v5e-1";
  request.assumed_effects = false;
  request.estimate_unknown_ops = true;
  return Predict(request);
}

// Of four times as many numbers, which VMEM does not hold, 4.8 times the time:
// stages grow with the square of the length's bits.
TEST(EstimateTest, ASortGoesOnFromWhatItsKernelsTake) {
  const auto kernel = Sorted(1 << 21), estimate = Sorted(1 << 23);
  ASSERT_OK(kernel.status());
  ASSERT_OK(estimate.status());
  EXPECT_THAT(estimate->record.warnings(),
              Contains(HasSubstr("is an estimate")));
  EXPECT_EQ(kernel->record.warnings_size(), 0);
  EXPECT_NEAR(static_cast<double>(estimate->record.step_time().value_ps()) /
                  static_cast<double>(kernel->record.step_time().value_ps()),
              4.8, 0.5);
}

}  // namespace
}  // namespace ptxla::driver
