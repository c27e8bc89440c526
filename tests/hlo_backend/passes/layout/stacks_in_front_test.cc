// Stacks that become planes: are results the same, whatever the place of the
// new dimension and of dimensions of one beside it?
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// f32[1000,7] values, each of shape `one`, stacked along `dimension`.
void ExpectSame(const char* one, const char* all, int dimension) {
  EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[1000,7] parameter(0)
  y = f32[1000,7] parameter(1)
  s = f32[1000,7] subtract(x, y)
  x1 = f32[$0] reshape(x)
  y1 = f32[$0] reshape(y)
  s1 = f32[$0] reshape(s)
  c = f32[$1] concatenate(x1, s1, y1), dimensions={$2}
  ROOT r = f32[$1] negate(c)
})",
                                           one, all, dimension),
                          "transpose-mover"))
      << all;
}

TEST(StacksInFrontTest, ResultsAreTheSame) {
  ExpectSame("1000,7,1", "1000,7,3", 2);
  ExpectSame("1000,7,1,1", "1000,7,1,3", 3);
  ExpectSame("1000,1,7,1", "1000,1,7,3", 3);
  ExpectSame("1,1000,7,1", "1,1000,7,3", 3);
}

}  // namespace
}  // namespace ptxla::hlo
