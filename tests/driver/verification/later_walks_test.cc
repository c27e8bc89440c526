// Kernels that walk over their arrays several times, and results in VMEM that
// lie where an operand did.
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

// The probabilities of an attention are stored in one walk over its scores,
// their gradient in the next one, which reads the scores again.
TEST(LaterWalksTest, AResultDoesNotLieOverWhatALaterWalkReads) {
  constexpr char kSoftmax[] = R"(HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
maxi {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] maximum(x, y)
}
ENTRY e {
  a = bf16[2,128,32] parameter(0)
  q = bf16[2,128,32] parameter(1)
  s0 = bf16[2,128,128] dot(a, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  v = bf16[2,128,32] parameter(2)
  o = bf16[2,128,32] parameter(3)
  dp = f32[2,128,128] dot(v, o), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  c = bf16[] constant(0.17678)
  cb = bf16[2,128,128] broadcast(c), dimensions={}
  s1 = bf16[2,128,128] multiply(s0, cb)
  s2 = f32[2,128,128] convert(s1)
  m = f32[128] parameter(4)
  z0 = f32[] constant(0)
  zb = f32[128] broadcast(z0), dimensions={}
  mp = pred[128] compare(m, zb), direction=GT
  mb = pred[2,128,128] broadcast(mp), dimensions={1}
  n = f32[] constant(-10000)
  nb = f32[2,128,128] broadcast(n), dimensions={}
  s3 = f32[2,128,128] select(mb, s2, nb)
  e = f32[2,128,128] exponential(s3)
  zero = f32[] constant(0)
  z = f32[2,128] reduce(e, zero), dimensions={1}, to_apply=add
  zz = f32[2,128,128] broadcast(z), dimensions={0,2}
  p = f32[2,128,128] divide(e, zz)
  pb = bf16[2,128,128] convert(p)
  g = f32[2,128,128] multiply(dp, p)
  gs = f32[2,128] reduce(g, zero), dimensions={1}, to_apply=add
  gb = f32[2,128,128] broadcast(gs), dimensions={0,2}
  h = f32[2,128,128] subtract(dp, gb)
  ds = f32[2,128,128] multiply(h, p)
  db = bf16[2,128,128] convert(ds)
  dq = bf16[2,128,32] dot(db, a), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dk = bf16[2,128,32] dot(db, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ov = bf16[2,128,32] dot(pb, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  dv = bf16[2,128,32] dot(pb, o), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT out = (bf16[2,128,32], bf16[2,128,32], bf16[2,128,32], bf16[2,128,32]) tuple(ov, dk, dq, dv)
})";
  for (const char* slice : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    ASSERT_OK_AND_ASSIGN(const Verification v, VerifyText(kSoftmax, slice));
    EXPECT_TRUE(v.ok()) << slice << ": " << v.Line();
  }
}

}  // namespace
}  // namespace ptxla::driver
