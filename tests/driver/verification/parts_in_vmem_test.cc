// A chain of two products that no schedule fits becomes kernels of its own,
// which find their operands where these lie.
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

// Queries that another kernel writes into VMEM, whose windows are higher than
// those of HBM.
TEST(PartsInVmemTest, AttentionOfComputedQueries) {
  constexpr char kAttention[] = R"(HloModule m
max {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT r = bf16[] maximum(a, b)
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  q = bf16[2,64,32] parameter(0)
  k = bf16[2,64,32] parameter(1)
  v = bf16[2,64,32] parameter(2)
  t = bf16[2,64,32] tanh(q)
  s = bf16[2,64,64] dot(t, k), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  low = bf16[] constant(-inf)
  top = bf16[2,64] reduce(s, low), dimensions={2}, to_apply=max
  tops = bf16[2,64,64] broadcast(top), dimensions={0,1}
  d = bf16[2,64,64] subtract(s, tops)
  e = bf16[2,64,64] exponential(d)
  w = f32[2,64,64] convert(e)
  zero = f32[] constant(0)
  z = f32[2,64] reduce(w, zero), dimensions={2}, to_apply=add
  zn = bf16[2,64] convert(z)
  zs = bf16[2,64,64] broadcast(zn), dimensions={0,1}
  p = bf16[2,64,64] divide(e, zs)
  ROOT o = bf16[2,64,32] dot(p, v), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
})";
  for (const char* slice : {"v6e-1", "v5e-1"}) {
    const auto v = VerifyText(kAttention, slice);
    ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
    EXPECT_TRUE(v->ok()) << slice << ": " << v->Line();
  }
}

}  // namespace
}  // namespace ptxla::driver
