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

absl::StatusOr<Prediction> OnV5e(const std::string& hlo) {
  const ::ptxla::testing::TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", hlo);
  request.topology = "v5e-1";
  request.assumed_effects = false;
  request.estimate_unknown_ops = true;
  return Predict(request);
}

double StepOf(const Prediction& p) {
  return static_cast<double>(p.record.step_time().value_ps());
}

TEST(EstimateTest, AnUnknownCallTakesItsBytes) {
  const auto call = [](int64_t numbers) {
    return OnV5e(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[$0] parameter(0)
  ROOT y = f32[$0] custom-call(x), custom_call_target="Foreign"
})",
                                  numbers));
  };
  const auto once = call(1 << 24), fourfold = call(1 << 26);
  ASSERT_OK(once.status());
  ASSERT_OK(fourfold.status());
  EXPECT_THAT(once->record.warnings(), Contains(HasSubstr("is an estimate")));
  EXPECT_NEAR(StepOf(*fourfold) / StepOf(*once), 4, 0.1);
}

// What VMEM does not hold is no estimate, but four sorts of all its parts and
// what moves in between.
TEST(EstimateTest, ALongSortTakesFourSortsOfItsParts) {
  const auto sorted = [](absl::string_view dims, int dimension) {
    return OnV5e(absl::Substitute(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[$0] parameter(0)
  ROOT s = f32[$0] sort(x), dimensions={$1}, to_apply=less
})",
                                  dims, dimension));
  };
  const auto parts = sorted("64,131072", 1), all = sorted("8388608", 0);
  ASSERT_OK(parts.status());
  ASSERT_OK(all.status());
  EXPECT_EQ(all->record.warnings_size(), 0);
  EXPECT_GT(StepOf(*all) / StepOf(*parts), 3.5);
  EXPECT_LT(StepOf(*all) / StepOf(*parts), 5);
}

}  // namespace
}  // namespace ptxla::driver
