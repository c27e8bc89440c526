// Does a network of few images compute the same where its values stay in the
// blocks that one convolution made of them? Small whole numbers: sums are exact
// in any order.
#include "tests/hlo_backend/passes/products/convolution_forms.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A 3x3 convolution of two images of `columns` columns; `work` makes r, of
// `results` columns, of its result y; and another convolution reads that.
std::string Network(int columns, const std::string& work, int results) {
  return absl::Substitute(
      R"(HloModule m
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT m = f32[] maximum(a, b) }
sum { c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT s = f32[] add(c, d) }
ENTRY e {
  x = f32[2,4,$0,3] parameter(0)
  w = f32[3,3,3,4] parameter(1)
  v = f32[3,3,4,4] parameter(2)
  bias = f32[4] parameter(3)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  y = f32[2,4,$0,4] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
$1
  ROOT root = f32[2,4,$2,4] convolution(r, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
})",
      columns, work, results);
}

std::string Made(int columns, const std::string& work, int results = 0) {
  return Converted(Network(columns, work, results == 0 ? columns : results),
                   "space-to-batch");
}

// Of twenty columns the last block has one that is none.
class BlockedImagesTest : public ::testing::TestWithParam<int> {};

TEST_P(BlockedImagesTest, ElementwiseWorkStaysInBlocks) {
  const int n = GetParam();
  const std::string out =
      Made(n, absl::Substitute(
                  R"(  b = f32[2,4,$0,4] broadcast(bias), dimensions={3}
  z = f32[2,4,$0,4] broadcast(zero), dimensions={}
  a = f32[2,4,$0,4] add(y, b)
  p = pred[2,4,$0,4] compare(a, z), direction=GT
  r = f32[2,4,$0,4] select(p, a, z))",
                  n));
  EXPECT_THAT(
      out, HasSubstr(absl::Substitute("f32[4,$0,16,4] select(", (n + 7) / 8)));
}

TEST_P(BlockedImagesTest, AResidualIsCutOnce) {
  const int n = GetParam();
  Made(
      n,
      absl::Substitute(
          R"(  k = f32[2,4,$0,4] convolution(y, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  a = f32[2,4,$0,4] add(k, y)
  other = f32[2,4,$0,4] parameter(4)
  r = f32[2,4,$0,4] multiply(a, other))",
          n));
}

// An axis of one tap, and one tap alone, whose padding is seen.
TEST_P(BlockedImagesTest, OtherConvolutionsTakeTheBlocks) {
  const int n = GetParam();
  const std::string out = Made(n,
                               absl::Substitute(
                                   R"(  u = f32[3,1,4,4] parameter(4)
  k = f32[2,4,$0,4] convolution(y, u), window={size=3x1 pad=1_1x0_0}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  one = f32[1,1,4,4] parameter(5)
  l = f32[2,4,$1,4] convolution(k, one), window={size=1x1 pad=0_0x0_2}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  r = f32[2,4,$1,4] negate(l))",
                                   n, n + 2),
                               n + 2);
  EXPECT_THAT(out, HasSubstr(absl::Substitute("f32[4,$0,16,4] convolution(",
                                              (n + 7) / 8)));
}

TEST_P(BlockedImagesTest, SumsLeaveOutWhatIsNoImage) {
  const int n = GetParam();
  for (const char* start : {"sum", "max"}) {
    const std::string of = std::string(start) == "sum" ? "zero" : "least";
    Made(n, absl::Substitute(
                R"(  all = f32[4] reduce(y, $1), dimensions={0,1,2}, to_apply=$2
  each = f32[2,4] reduce(y, $1), dimensions={1,2}, to_apply=$2
  here = f32[2,4,$0] reduce(y, $1), dimensions={3}, to_apply=$2
  h = f32[2,4,$0,4] broadcast(here), dimensions={0,1,2}
  e = f32[2,4,$0,4] broadcast(each), dimensions={0,3}
  d = f32[2,4,$0,4] subtract(y, e)
  f = f32[2,4,$0,4] multiply(d, h)
  g = f32[2,4,$0,4] broadcast(all), dimensions={3}
  r = f32[2,4,$0,4] add(f, g))",
                n, of, start));
  }
}

// Windows that overlap, and steps that blocks are no whole number of.
TEST_P(BlockedImagesTest, PoolingsSeeTheNextBlocks) {
  const int n = GetParam();
  for (const int stride : {1, 2}) {
    for (const int size : {2, 3}) {
      const int out = (n + 2 * (size / 2) - size) / stride + 1;
      Made(
          n,
          absl::Substitute(
              R"(  a = f32[2,4,$0,4] reduce-window(y, least), window={size=1x1x$1x1 stride=1x1x$2x1 pad=0_0x0_0x$3_$3x0_0}, to_apply=max
  r = f32[2,4,$0,4] negate(a))",
              out, size, stride, size / 2),
          out);
    }
  }
}

// Features of several layers side by side, some of them again, and one that is
// not in blocks.
TEST_P(BlockedImagesTest, FeaturesArePutTogetherInBlocks) {
  const int n = GetParam();
  const std::string out = Made(n, absl::Substitute(
                                      R"(  other = f32[2,4,$0,3] parameter(4)
  c = f32[2,4,$0,11] concatenate(y, other, y), dimensions={3}
  r = f32[2,4,$0,4] slice(c), slice={[0:2], [0:4], [0:$0], [2:6]})",
                                      n));
  EXPECT_THAT(out, HasSubstr(absl::Substitute("f32[4,$0,16,11] concatenate(",
                                              (n + 7) / 8)));
}

// A value for each column, of all images or of each: the counts of a pooling.
TEST_P(BlockedImagesTest, WhatVariesAlongTheAxisIsCutToo) {
  const int n = GetParam();
  const std::string out = Made(n, absl::Substitute(
                                      R"(  counts = f32[4,$0] parameter(4)
  c = f32[2,4,$0,4] broadcast(counts), dimensions={1,2}
  m = f32[2,4,$0,4] multiply(y, c)
  each = f32[2,$0] parameter(5)
  e = f32[2,4,$0,4] broadcast(each), dimensions={0,2}
  r = f32[2,4,$0,4] add(m, e))",
                                      n));
  EXPECT_THAT(out, HasSubstr(absl::Substitute("f32[4,$0,16,4] multiply(",
                                              (n + 7) / 8)));
}

// The sum of each position's features, as frameworks keep its dimension.
TEST_P(BlockedImagesTest, DimensionsOfOneComeAndGo) {
  const int n = GetParam();
  const std::string out = Made(
      n,
      absl::Substitute(
          R"(  sum = f32[2,4,$0] reduce(y, zero), dimensions={3}, to_apply=sum
  kept = f32[2,4,$0,1] reshape(sum)
  size = f32[2,4,$0,1] abs(kept)
  gone = f32[2,4,$0] reshape(size)
  all = f32[2,4,$0,4] broadcast(gone), dimensions={0,1,2}
  r = f32[2,4,$0,4] subtract(y, all))",
          n));
  EXPECT_THAT(out,
              HasSubstr(absl::Substitute("f32[1,4,$0,16] abs(", (n + 7) / 8)));
}

TEST_P(BlockedImagesTest, TransposesOnlyNameDimensions) {
  const int n = GetParam();
  const std::string out =
      Made(n, absl::Substitute(
                  R"(  t = f32[$0,2,4,4] transpose(y), dimensions={2,0,3,1}
  m = f32[$0,2,4,4] negate(t)
  bt = f32[$0,2,4,4] broadcast(bias), dimensions={2}
  a = f32[$0,2,4,4] add(m, bt)
  r = f32[2,4,$0,4] transpose(a), dimensions={1,3,0,2})",
                  n));
  EXPECT_THAT(
      out, HasSubstr(absl::Substitute("f32[4,$0,16,4] negate(", (n + 7) / 8)));
}

// A gradient of weights: of the same steps, and of one tap that meets every
// second column.
TEST_P(BlockedImagesTest, GradientsContractTheBlocks) {
  const int n = GetParam();
  const int half = (n + 1) / 2;
  const std::string out = Made(
      n,
      absl::Substitute(
          R"(  k = f32[2,4,$0,4] convolution(y, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  dw = f32[3,3,4,4] convolution(y, k), window={size=4x$0 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, operand_precision={highest,highest}
  one = f32[1,1,4,4] parameter(4)
  s = f32[2,4,$1,4] convolution(y, one), window={size=1x1 stride=1x2}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  ds = f32[1,1,4,4] convolution(y, s), window={size=4x$1 pad=0_0x0_$2 rhs_dilate=1x2}, dim_labels=f01b_i01o->01bf, operand_precision={highest,highest}
  every = f32[4,4] reshape(ds)
  taps = f32[3,3,4,4] broadcast(every), dimensions={2,3}
  u = f32[3,3,4,4] add(dw, taps)
  r = f32[2,4,$0,4] convolution(y, u), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest})",
          n, half, n % 2 == 1 ? 0 : -1));
  EXPECT_THAT(out, HasSubstr(absl::Substitute("window={size=4x$0 pad=1_1x0_0}",
                                              (n + 7) / 8)));
}

INSTANTIATE_TEST_SUITE_P(Columns, BlockedImagesTest,
                         ::testing::Values(16, 20, 31));

// What no convolution reads in the end has no use for blocks.
TEST(BlockedImagesTest, WhatLeavesTheNetworkIsNotFollowed) {
  const std::string out = Converted(
      R"(HloModule m
ENTRY e {
  x = f32[2,4,16,3] parameter(0)
  w = f32[3,3,3,4] parameter(1)
  y = f32[2,4,16,4] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,highest}
  ROOT r = f32[2,4,16,4] negate(y)
})",
      "space-to-batch");
  EXPECT_THAT(out, HasSubstr("ROOT %r = f32[2,4,16,4] negate("));
  EXPECT_THAT(out, HasSubstr("f32[4,2,16,4] convolution("));
}

}  // namespace
}  // namespace ptxla::hlo
