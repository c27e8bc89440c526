// What stands for fusions that are taken apart: kernels that read little, are
// made once, and hand on what products take.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/end_to_end/scheduled_entry.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Its values are right, too.
std::string Scheduled(const std::string& text,
                      const std::string& topology = "v5e-1") {
  return ScheduledEntry(text, /*verify=*/true, topology);
}

int64_t CountOf(const std::string& text, const std::string& what) {
  const std::vector<std::string> parts = absl::StrSplit(text, what);
  return static_cast<int64_t>(parts.size()) - 1;
}

// A stem. Images with the batch in the lanes: a copy of 8 MB of 192 KB.
constexpr char kStem[] = R"(HloModule m, is_scheduled=true
first {
  x = bf16[8,3,64,64]{0,1,3,2:T(4,128)(2,1)} parameter(0)
  w = f32[64,3,7,7]{0,3,2,1:T(8,128)} parameter(1)
  v = bf16[64,3,7,7]{0,3,2,1:T(8,128)(2,1)} convert(w)
  c = f32[8,64,32,32]{1,0,3,2:T(8,128)} convolution(x, v), window={size=7x7 stride=2x2 pad=3_3x3_3}, dim_labels=bf01_oi01->bf01
  z = f32[] constant(0)
  zz = f32[8,64,32,32]{1,0,3,2:T(8,128)} broadcast(z), dimensions={}
  ROOT m = f32[8,64,32,32]{1,0,3,2:T(8,128)} maximum(c, zz)
}
ENTRY e {
  x = bf16[8,3,64,64]{3,2,1,0:T(8,128)(2,1)} parameter(0)
  w = f32[64,3,7,7]{0,3,2,1:T(8,128)} parameter(1)
  c = bf16[8,3,64,64]{0,1,3,2:T(4,128)(2,1)} copy(x)
  ROOT r = f32[8,64,32,32]{1,0,3,2:T(8,128)} fusion(c, w), kind=kOutput, calls=first
})";

TEST(ScheduledPartsTest, AConvolutionReadsWhatAPaddedCopyWasMadeOf) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    EXPECT_THAT(Scheduled(kStem, topology),
                Not(HasSubstr("bf16[8,3,64,64]{0,1,3,2")))
        << topology;
  }
}

// On the way to 16 features of 2 x 2 blocks: rows of 32 columns of an image,
// not 32 x 64 x 8 rows of 8 numbers in 128 lanes.
TEST(ScheduledPartsTest, AnImageIsFoldedInRowsOfItsColumns) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const std::string entry = Scheduled(kStem, topology);
    EXPECT_THAT(entry, HasSubstr("bf16[64,8,8,32]{3,2,1,0")) << topology;
    EXPECT_THAT(entry, Not(HasSubstr("bf16[32,64,8,8]{3,2,1,0"))) << topology;
  }
}

// Two convolutions, f and g, of what is computed from the same values.
std::string TwoConvolutions(const std::string& seconds_operand) {
  std::string text = "HloModule m, is_scheduled=true\n";
  for (const char* name : {"f", "g"}) {
    absl::StrAppend(&text, name, R"( {
  x = f32[8,64,14,14]{1,0,3,2:T(8,128)} parameter(0)
  s = f32[64]{0:T(128)} parameter(1)
  w = f32[64,64,3,3]{0,1,3,2:T(8,128)} parameter(2)
  b = f32[8,64,14,14]{1,0,3,2:T(8,128)} broadcast(s), dimensions={1}
  y = f32[8,64,14,14]{1,0,3,2:T(8,128)} multiply(x, b)
  ROOT c = f32[8,64,14,14]{1,0,3,2:T(8,128)} convolution(y, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
}
)");
  }
  return absl::StrCat(text, R"(ENTRY e {
  x = f32[8,64,14,14]{1,0,3,2:T(8,128)} parameter(0)
  s = f32[64]{0:T(128)} parameter(1)
  v = f32[64,64,3,3]{0,1,3,2:T(8,128)} parameter(2)
  w = f32[64,64,3,3]{0,1,3,2:T(8,128)} parameter(3)
  t = f32[64]{0:T(128)} parameter(4)
  c = f32[8,64,14,14]{1,0,3,2:T(8,128)} fusion(x, s, v), kind=kOutput, calls=f
  d = f32[8,64,14,14]{1,0,3,2:T(8,128)} fusion(x, )",
                      seconds_operand, R"(, w), kind=kOutput, calls=g
  ROOT r = (f32[8,64,14,14]{1,0,3,2:T(8,128)}, f32[8,64,14,14]{1,0,3,2:T(8,128)}) tuple(c, d)
})");
}

TEST(ScheduledPartsTest, WhatTwoConvolutionsReadIsMadeOnce) {
  EXPECT_EQ(CountOf(Scheduled(TwoConvolutions("s")), "kind=kLoop"), 1);
  EXPECT_EQ(CountOf(Scheduled(TwoConvolutions("t")), "kind=kLoop"), 2);
}

TEST(ScheduledPartsTest, WhatOnlyAProductReadsIsRoundedForIt) {
  EXPECT_THAT(Scheduled(TwoConvolutions("s")),
              HasSubstr("bf16[14,14,8,64]{3,2,1,0:T(8,128)(2,1)"));
}

// The gradient of a vocabulary's weights: its K are rows of a batch, in the
// lanes of one operand and in the rows of the other, and both are computed.
TEST(ScheduledPartsTest, AProductOverPlanesIsNoSumOfProducts) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const std::string entry = Scheduled(R"(HloModule m, is_scheduled=true
gradient {
  s = bf16[4,128,301]{1,2,0:T(8,128)(2,1)} parameter(0)
  m = f32[4,128]{1,0:T(4,128)} parameter(1)
  y = f32[4,128,64]{2,1,0:T(8,128)} parameter(2)
  w = f32[64]{0:T(128)} parameter(3)
  v = f32[4,128,64]{2,1,0:T(8,128)} broadcast(w), dimensions={2}
  z = f32[4,128,64]{2,1,0:T(8,128)} multiply(y, v)
  x = bf16[4,128,64]{2,1,0:T(8,128)(2,1)} convert(z)
  t = f32[4,128,301]{1,2,0:T(8,128)} convert(s)
  n = f32[4,128,301]{1,2,0:T(8,128)} broadcast(m), dimensions={0,1}
  e = f32[4,128,301]{1,2,0:T(8,128)} subtract(t, n)
  g = bf16[4,128,301]{1,2,0:T(8,128)(2,1)} convert(e)
  c = bf16[301,64,1]{1,0,2:T(8,128)(2,1)} convolution(g, x), window={size=4}, dim_labels=0fb_0io->bf0
  b = bf16[301,64]{1,0:T(8,128)(2,1)} bitcast(c)
  ROOT r = f32[301,64]{1,0:T(8,128)} convert(b)
}
ENTRY e {
  s = bf16[4,128,301]{1,2,0:T(8,128)(2,1)} parameter(0)
  m = f32[4,128]{1,0:T(4,128)} parameter(1)
  y = f32[4,128,64]{2,1,0:T(8,128)} parameter(2)
  w = f32[64]{0:T(128)} parameter(3)
  ROOT r = f32[301,64]{1,0:T(8,128)} fusion(s, m, y, w), kind=kOutput, calls=gradient
})",
                                        topology);
    EXPECT_EQ(CountOf(entry, "kind=kOutput"), 1) << topology << entry;
    EXPECT_THAT(entry, Not(HasSubstr("f32[4,301,64]"))) << topology;
  }
}

}  // namespace
}  // namespace ptxla::driver
