// Does a product of the front of longer rows mean the same when it reads the
// rows whole?
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(PrefixOperandsTest, WhatIsBehindTheFrontTakesNoPart) {
  for (const auto& [front, row] : std::vector<std::pair<int, int>>{
           {7, 8}, {512, 513}, {500, 600}, {200, 255}}) {
    EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[2,40,$1] parameter(0)
  y = bf16[2,$0,5] parameter(1)
  a = f32[2,40,$1] abs(x)
  s = f32[2,40,$0] slice(a), slice={[0:2], [0:40], [0:$0]}
  c = bf16[2,40,$0] convert(s)
  ROOT d = f32[2,40,5] dot(c, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
})",
                                             front, row),
                            "dot-shaper"));
    // On the right, behind a reshape of the rows.
    EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[4,16,$1] parameter(0)
  y = f32[5,$0] parameter(1)
  a = f32[4,16,$1] abs(x)
  s = f32[4,16,$0] slice(a), slice={[0:4], [0:16], [0:$0]}
  r = f32[64,$0] reshape(s)
  ROOT d = f32[5,64] dot(y, r), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})",
                                             front, row),
                            "dot-shaper"));
  }
}

// Another dimension is summed, and two products read the front.
TEST(PrefixOperandsTest, TheEndOfTheRowIsCutOffTheResult) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
ENTRY e {
  x = f32[2,96,33] parameter(0)
  y = f32[2,96,5] parameter(1)
  z = f32[2,32,4] parameter(2)
  a = f32[2,96,33] abs(x)
  s = f32[2,96,32] slice(a), slice={[0:2], [0:96], [0:32]}
  d = f32[2,32,5] dot(s, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  t = f32[2,5,32] dot(y, s), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  c = f32[2,96,4] dot(s, z), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  d1 = f32[320] reshape(d)
  t1 = f32[320] reshape(t)
  c1 = f32[768] reshape(c)
  ROOT r = f32[1408] concatenate(d1, t1, c1), dimensions={0}
})",
                          "dot-shaper"));
}

}  // namespace
}  // namespace ptxla::hlo
