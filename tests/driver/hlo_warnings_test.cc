// Does a run say which of its numbers are guesses?
#include <string>

#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(HloWarningsTest, AssumedTripCountsAreNamedInsideOfBranches) {
  const TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", R"(HloModule m
cond {
  s = (s32[], s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  a = f32[1024] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  d = f32[1024] cosine(a)
  ROOT t = (s32[], s32[], f32[1024]) tuple(j, n, d)
}
b0 {
  s = (s32[], s32[], f32[1024]) parameter(0)
  inner = (s32[], s32[], f32[1024]) while(s), condition=cond, body=body
  ROOT g = f32[1024] get-tuple-element(inner), index=2
}
b1 {
  s = (s32[], s32[], f32[1024]) parameter(0)
  ROOT g = f32[1024] get-tuple-element(s), index=2
}
ENTRY e {
  p = f32[1024] parameter(0)
  k = s32[] parameter(1)
  q = s32[] parameter(2)
  z = s32[] constant(0)
  t = (s32[], s32[], f32[1024]) tuple(z, q, p)
  ROOT r = f32[1024] conditional(k, t, t), branch_computations={b0, b1}
})");
  request.topology = "v5e-1";
  request.assumed_effects = false;
  request.assumed_trip_count = 7;
  const auto run = Predict(request);
  ASSERT_OK(run.status());
  EXPECT_THAT(run->record.warnings(), Contains(HasSubstr("taken as 7 times")));
}

TEST(HloWarningsTest, ATripCountThatNoLoopNeedsIsNamed) {
  const TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", R"(HloModule m
ENTRY e {
  p = f32[1024] parameter(0)
  ROOT r = f32[1024] add(p, p)
}
)");
  request.topology = "v5e-1";
  request.assumed_effects = false;
  request.assumed_trip_count = 7;
  const auto run = Predict(request);
  ASSERT_OK(run.status());
  EXPECT_THAT(run->record.warnings(),
              Contains(HasSubstr("--trip-count changed nothing")));
}

}  // namespace
}  // namespace ptxla::driver
