#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(UpdateSliceTest, RowsAndPlanesGoWhereTheirClampedStartSays) {
  for (const char* update : {"8,1,200", "2,40,200", "1,1,200"}) {
    for (int seed = 1; seed < 4; ++seed) {
      HarnessOptions options;
      options.seed = seed;
      options.low = -3;
      options.high = 45;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = f32[8,40,200] parameter(0)
  u = f32[$0] parameter(1)
  x = s32[] parameter(2)
  y = s32[] parameter(3)
  z = s32[] parameter(4)
  ROOT r = f32[8,40,200] dynamic-update-slice(a, u, x, y, z)
})",
                                               update),
                              options)
                    .status())
          << update;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
