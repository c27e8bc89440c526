// Attention as the TPU compiler writes it: grouped heads as convolutions with
// base dilation, scores and their maxima as one fusion of two results.
#include <string>

#include "absl/strings/str_split.h"
#include "tests/end_to_end/scheduled_entry.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int64_t Count(const std::string& text, const std::string& what) {
  const std::vector<std::string> parts = absl::StrSplit(text, what);
  return static_cast<int64_t>(parts.size()) - 1;
}

// Two heads of keys, each for three of queries; keys first, and rows of 64
// halves made by pads, as rotary embeddings are. The program's batch of one
// stays a dimension.
constexpr char kGroups[] = R"(HloModule m, is_scheduled=true
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
keys {
  a = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(0)
  b = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(1)
  low = bf16[] constant(-inf)
  p = bf16[128,2,64]{0,2,1:T(8,128)(2,1)} pad(a, low), padding=0_0x0_0x0_32
  q = bf16[128,2,64]{0,2,1:T(8,128)(2,1)} pad(b, low), padding=0_0x0_0x32_0
  m = bf16[128,2,64]{0,2,1:T(8,128)(2,1)} maximum(p, q)
  ROOT r = bf16[128,2,64,1]{0,2,3,1:T(8,128)(2,1)} bitcast(m)
}
scores {
  mask = pred[256,128]{0,1:T(8,128)(4,1)} parameter(3)
  masks = pred[1,2,3,256,128]{3,4,2,1,0:T(8,128)(4,1)} broadcast(mask), dimensions={3,4}
  a = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(0)
  b = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(1)
  k = bf16[128,2,64,1]{0,2,3,1:T(8,128)(2,1)} fusion(a, b), kind=kLoop, calls=keys
  q = bf16[256,2,3,64]{3,0,2,1:T(8,128)(2,1)} parameter(2)
  c = f32[2,128,256,3]{2,1,3,0:T(8,128)} convolution(k, q), window={size=2x3 stride=1x1 pad=0_0x2_2 lhs_dilate=2x1 rhs_reversal=0x1}, dim_labels=b0f1_o01i->0bf1
  scale = f32[] constant(0.125)
  scales = f32[2,128,256,3]{2,1,3,0:T(8,128)} broadcast(scale), dimensions={}
  s = f32[2,128,256,3]{2,1,3,0:T(8,128)} multiply(c, scales)
  v = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} bitcast(s)
  low = f32[] constant(-1e30)
  lows = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} broadcast(low), dimensions={}
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} select(masks, v, lows)
  start = f32[] constant(-inf)
  m = f32[2,3,256]{2,1,0:T(4,128)} reduce(x, start), dimensions={0,4}, to_apply=max
  ROOT t = (f32[2,3,256]{2,1,0:T(4,128)}, f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)}) tuple(m, x)
}
weights {
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} parameter(0)
  m = f32[2,3,256]{2,1,0:T(4,128)} parameter(1)
  n = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} broadcast(m), dimensions={1,2,3}
  d = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} subtract(x, n)
  y = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} exponential(d)
  w = bf16[1,2,3,256,128]{3,4,2,1,0:T(8,128)(2,1)} convert(y)
  ROOT r = bf16[2,3,256,128]{2,3,1,0:T(8,128)(2,1)} bitcast(w)
}
values {
  v = bf16[128,2,64,1]{0,2,3,1:T(8,128)(2,1)} parameter(0)
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} parameter(1)
  m = f32[2,3,256]{2,1,0:T(4,128)} parameter(2)
  w = bf16[2,3,256,128]{2,3,1,0:T(8,128)(2,1)} fusion(x, m), kind=kLoop, calls=weights
  ROOT c = bf16[2,64,3,256]{3,1,2,0:T(8,128)(2,1)} convolution(v, w), window={size=2x3 stride=1x1 pad=0_0x2_2 lhs_dilate=2x1 rhs_reversal=0x1}, dim_labels=f0b1_01oi->0b1f
}
ENTRY e {
  a = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(0)
  b = bf16[128,2,32]{0,2,1:T(8,128)(2,1)} parameter(1)
  q = bf16[256,2,3,64]{3,0,2,1:T(8,128)(2,1)} parameter(2)
  mask = pred[256,128]{0,1:T(8,128)(4,1)} parameter(3)
  v = bf16[128,2,64,1]{0,2,3,1:T(8,128)(2,1)} parameter(4)
  f = (f32[2,3,256]{2,1,0:T(4,128)}, f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)}) fusion(a, b, q, mask), kind=kOutput, calls=scores
  m = f32[2,3,256]{2,1,0:T(4,128)} get-tuple-element(f), index=0
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} get-tuple-element(f), index=1
  ROOT r = bf16[2,64,3,256]{3,1,2,0:T(8,128)(2,1)} fusion(v, x, m), kind=kOutput, calls=values
})";

// Scores never meet HBM but as the fusion's result: its product makes them
// with their maxima, and the next one reads them.
TEST(ScheduledAttentionTest, GroupedScoresAndTheirMaximaAreOneKernel) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const std::string entry =
        ScheduledEntry(kGroups, /*verify=*/true, topology);
    EXPECT_EQ(Count(entry, "kind=kOutput"), 2) << topology << entry;
    EXPECT_EQ(Count(entry, "kind=kInput"), 0) << topology << entry;
    EXPECT_THAT(entry, Not(HasSubstr(" transpose("))) << topology << entry;
  }
}

// The gradient of keys, over the queries of all three heads of a group: a
// product of each head, and their sum. What is computed in front of it, by a
// mask that all heads share, is neither stored nor transposed.
constexpr char kKeyGradient[] = R"(HloModule m, is_scheduled=true
scores {
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} parameter(0)
  mask = pred[256,128]{0,1:T(8,128)(4,1)} parameter(1)
  masks = pred[1,2,3,256,128]{3,4,2,1,0:T(8,128)(4,1)} broadcast(mask), dimensions={3,4}
  zero = f32[] constant(0)
  zeros = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} broadcast(zero), dimensions={}
  y = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} select(masks, x, zeros)
  ROOT r = f32[2,128,256,3]{2,1,3,0:T(8,128)} bitcast(y)
}
keys {
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} parameter(0)
  mask = pred[256,128]{0,1:T(8,128)(4,1)} parameter(1)
  q = bf16[256,2,3,64]{3,0,2,1:T(8,128)(2,1)} parameter(2)
  s = f32[2,128,256,3]{2,1,3,0:T(8,128)} fusion(x, mask), kind=kLoop, calls=scores
  c = f32[2,128,64,1]{1,2,3,0:T(8,128)} convolution(s, q), window={size=2x3 stride=1x1 lhs_dilate=2x1}, dim_labels=0bf1_i01o->0bf1
  ROOT b = f32[2,128,64]{1,2,0:T(8,128)} bitcast(c)
}
ENTRY e {
  x = f32[1,2,3,256,128]{3,4,2,1,0:T(8,128)} parameter(0)
  mask = pred[256,128]{0,1:T(8,128)(4,1)} parameter(1)
  q = bf16[256,2,3,64]{3,0,2,1:T(8,128)(2,1)} parameter(2)
  ROOT r = f32[2,128,64]{1,2,0:T(8,128)} fusion(x, mask, q), kind=kOutput, calls=keys
})";

TEST(ScheduledAttentionTest, AProductOverHeadsOfAGroupIsASumOfProducts) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const std::string entry =
        ScheduledEntry(kKeyGradient, /*verify=*/true, topology);
    EXPECT_THAT(entry, Not(HasSubstr("bf16[2,3,128,256]")))
        << topology << entry;
    EXPECT_THAT(entry, HasSubstr("f32[2,3,64,128]")) << topology << entry;
    EXPECT_THAT(entry, Not(HasSubstr(" transpose("))) << topology << entry;
  }
}

}  // namespace
}  // namespace ptxla::driver
