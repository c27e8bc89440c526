// The hand-checkable numbers of XLA's own cost analysis tests that need more
// than one instruction (the others are in cost_analysis_test.cc).
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr char kAdd[] = R"(HloModule t
add { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
add2 { a = f32[] parameter(0) b = f32[] parameter(1)
  c = f32[] parameter(2) d = f32[] parameter(3)
  x = f32[] add(a, c) y = f32[] add(b, d)
  ROOT r = (f32[], f32[]) tuple(x, y) }
exp { a = f32[] parameter(0)
  half = f32[] constant(0.5)
  s = f32[] add(a, half)
  ROOT r = f32[] exponential(s) }
)";

Cost CostOf(const std::string& text) {
  auto module = ParseModule(kAdd + text);
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  return CostAnalysis(CostOptions::LikeXla()).Of(**module);
}

Cost RootCostOf(const std::string& text) {
  auto module = ParseModule(kAdd + text);
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  CostAnalysis costs(CostOptions::LikeXla());
  return costs.Of(*(*module)->entry()->root());
}

TEST(XlaNumbersTest, Map) {
  const Cost c = CostOf(
      "ENTRY e { x = f32[10] parameter(0) ROOT r = f32[10] map(x), "
      "dimensions={0}, to_apply=exp }");
  EXPECT_EQ(c.flops, 10);
  EXPECT_EQ(c.transcendentals, 10);
  EXPECT_EQ(c.bytes_accessed, 80);
}

TEST(XlaNumbersTest, DotOfTwoBatchDimensions) {
  const Cost c = CostOf(
      "ENTRY e { x = f32[10,5,5] parameter(0) y = f32[5,5,30] parameter(1) "
      "ROOT d = f32[5,5,10,30] dot(x, y), lhs_batch_dims={1,2}, "
      "rhs_batch_dims={0,1} }");
  EXPECT_EQ(c.flops, 2 * 10 * 30 * 5 * 5);
  EXPECT_EQ(c.bytes_accessed, 4 * (250 + 750 + 5 * 5 * 10 * 30));
}

TEST(XlaNumbersTest, ReduceWindowOfTwoArrays) {
  const Cost c = CostOf(
      "ENTRY e { x = f32[10,20] parameter(0) y = f32[10,20] parameter(1) "
      "z = f32[] parameter(2) ROOT r = (f32[2,4], f32[2,4]) reduce-window(x, "
      "y, z, z), window={size=4x5 stride=4x5}, to_apply=add2 }");
  EXPECT_EQ(c.flops, 304);
}

TEST(XlaNumbersTest, ReduceWindowThatIsAReduceAndABroadcast) {
  const Cost c = RootCostOf(
      "ENTRY e { x = f32[2,3,1024,1024] parameter(0) z = f32[] parameter(1) "
      "ROOT r = f32[2,3,1024,1024] reduce-window(x, z), "
      "window={size=1x1x1x2047 "
      "pad=0_0x0_0x0_0x1023_1023}, to_apply=add }");
  EXPECT_EQ(c.flops, 2 * 3 * 1024 + 1023);
}

// Dilated, the same numbers are another window: one result of 3 places here.
TEST(XlaNumbersTest, ADilatedWindowIsNoReduce) {
  const Cost c = CostOf(
      "ENTRY e { x = f32[2] parameter(0) z = f32[] parameter(1) ROOT r = "
      "f32[1] reduce-window(x, z), window={size=3 pad=1_1 lhs_dilate=2 "
      "rhs_dilate=2}, to_apply=add }");
  EXPECT_EQ(c.flops, 2);
}

TEST(XlaNumbersTest, FullyConnectedForward) {
  const Cost c = CostOf(R"(ENTRY e {
  x = f32[10,5] parameter(0)
  w = f32[5,20] parameter(1)
  b = f32[20] parameter(2)
  d = f32[10,20] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[10,20] broadcast(b), dimensions={1}
  s = f32[10,20] add(d, bb)
  n = f32[10,20] negate(s)
  e = f32[10,20] exponential(n)
  one = f32[] constant(1)
  ones = f32[10,20] broadcast(one), dimensions={}
  p = f32[10,20] add(e, ones)
  ROOT r = f32[10,20] divide(ones, p)
})");
  // 200 for the bias, 3 * 200 for the sigmoid.
  EXPECT_EQ(c.flops, 2 * 1000 + 200 + 3 * 200);
  EXPECT_EQ(c.transcendentals, 200);
}

TEST(XlaNumbersTest, GatherWithBatches) {
  const Cost c = RootCostOf(
      "ENTRY e { x = s32[5,3,2] parameter(0) i = s32[5,2,1] parameter(1) ROOT "
      "r = s32[5,2,1] gather(x, i), offset_dims={2}, collapsed_slice_dims={2}, "
      "start_index_map={2}, operand_batching_dims={0}, "
      "start_indices_batching_dims={0}, index_vector_dim=2, "
      "slice_sizes={1,1,1} }");
  // Twice the result, and the indices.
  EXPECT_EQ(c.bytes_accessed, 4 * (2 * 5 * 2 * 1 + 5 * 2 * 1));
}

TEST(XlaNumbersTest, ScatterOfTwoArrays) {
  const Cost c = RootCostOf(
      "ENTRY e { x = f32[3,3] parameter(0) y = f32[3,3] parameter(1) i = "
      "s32[2] "
      "parameter(2) u = f32[2,3] parameter(3) v = f32[2,3] parameter(4) ROOT r "
      "= (f32[3,3], f32[3,3]) scatter(x, y, i, u, v), update_window_dims={1}, "
      "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add2 }");
  EXPECT_EQ(c.bytes_accessed, 4 * (2 + 2 * 3 * 6));
}

TEST(XlaNumbersTest, ALoopFusion) {
  const Cost c = RootCostOf(R"(f {
  p = f32[2,2] parameter(0)
  c1 = f32[2,2] constant({{1,2},{3,4}})
  c2 = f32[2,2] constant({{1,2},{3,4}})
  c3 = f32[2,2] constant({{1,2},{3,4}})
  a = f32[2,2] add(c1, c2)
  k = f32[2,2] clamp(c1, a, c2)
  x = f32[2,2] exponential(k)
  m = f32[2,2] multiply(x, c3)
  ROOT s = f32[2,2] subtract(m, p)
}
ENTRY e { p = f32[2,2] parameter(0)
  ROOT r = f32[2,2] fusion(p), kind=kLoop, calls=f })");
  EXPECT_EQ(c.flops, 16);
  EXPECT_EQ(c.transcendentals, 4);
}

TEST(XlaNumbersTest, ConvolutionsOfDilatedBaseAndWindow) {
  struct {
    int lhs_y, lhs_x, high, wide;
    double flops;
  } const cases[] = {{3, 4, 16, 61, 1472}, {3, 5, 16, 80, 1536}};
  for (const auto& c : cases) {
    const Cost cost = RootCostOf(absl::StrCat(
        "ENTRY e { x = f32[1,1,10,20] parameter(0) k = f32[1,1,3,3] "
        "parameter(1) ROOT c = f32[1,1,",
        c.high, ",", c.wide,
        "] convolution(x, k), window={size=3x3 pad=1_1x1_1 lhs_dilate=",
        c.lhs_y, "x", c.lhs_x,
        " rhs_dilate=7x9}, dim_labels=bf01_oi01->bf01 }"));
    EXPECT_EQ(cost.flops, c.flops);
    EXPECT_EQ(cost.bytes_accessed, 4 * (200 + 9 + c.high * c.wide));
  }
}

TEST(XlaNumbersTest, AMatrixProductAndAConvolutionThatSayTheSame) {
  const Cost conv = RootCostOf(
      "ENTRY e { x = f32[64,256,1] parameter(0) k = f32[512,256,1] "
      "parameter(1) ROOT c = f32[64,512,1] convolution(x, k), "
      "window={size=1}, dim_labels=bf0_oi0->bf0 }");
  const Cost dot = RootCostOf(
      "ENTRY e { x = f32[64,256] parameter(0) k = f32[512,256] parameter(1) "
      "ROOT d = f32[64,512] dot(x, k), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={1} }");
  EXPECT_EQ(conv.flops, 2.0 * 64 * 256 * 512);
  EXPECT_EQ(dot.flops, conv.flops);
  EXPECT_EQ(dot.bytes_accessed, conv.bytes_accessed);
}

TEST(XlaNumbersTest, AConvolutionOfAsManyWindowsAsElements) {
  // Padding on all sides of one element: each element of the window meets it
  // once.
  constexpr int64_t kLarge = 512 * 1024;
  const Cost c = RootCostOf(absl::StrCat(
      "ENTRY e { x = f32[1,1,1] parameter(0) k = f32[1,1,", kLarge,
      "] parameter(1) ROOT c = f32[1,1,", kLarge,
      "] convolution(x, k), window={size=", kLarge, " pad=", kLarge - 1, "_",
      kLarge - 1, "}, dim_labels=bf0_oi0->bf0 }"));
  EXPECT_EQ(c.flops, 2.0 * kLarge);
}

TEST(XlaNumbersTest, ALoopFusionWithATupleInATuple) {
  const Cost c = RootCostOf(R"(f {
  c1 = f32[2,2] parameter(0)
  c2 = f32[2,2] parameter(1)
  c3 = f32[2,2] parameter(2)
  c4 = f32[2,2] parameter(3)
  c5 = f32[2,2] parameter(4)
  a = f32[2,2] add(c1, c2)
  k = f32[2,2] clamp(c2, a, c3)
  x = f32[2,2] exponential(k)
  m = f32[2,2] multiply(x, c4)
  s = f32[2,2] subtract(m, c5)
  t = (f32[2,2], f32[2,2], f32[2,2], f32[2,2]) tuple(s, s, m, c1)
  ROOT r = ((f32[2,2], f32[2,2], f32[2,2], f32[2,2]), f32[2,2]) tuple(t, k)
}
ENTRY e { c1 = f32[2,2] parameter(0) c2 = f32[2,2] parameter(1)
  c3 = f32[2,2] parameter(2) c4 = f32[2,2] parameter(3)
  c5 = f32[2,2] parameter(4)
  ROOT r = ((f32[2,2], f32[2,2], f32[2,2], f32[2,2]), f32[2,2]) fusion(c1, c2,
    c3, c4, c5), kind=kLoop, calls=f })");
  EXPECT_EQ(c.flops, 16);
  EXPECT_EQ(c.transcendentals, 4);
  // Five arrays in, five out.
  EXPECT_EQ(c.bytes_accessed, 4 * (5 + 5) * 4);
}

// 512 MiB each: an array is read once, however many users the nested fusion
// that reads it has ...
constexpr char kInner[] = R"(inner { p = f32[8192,16384] parameter(0)
  ROOT n = f32[8192,16384] negate(p) }
)";

TEST(XlaNumbersTest, ANestedFusionFeedsSeveralUsers) {
  const Cost c = RootCostOf(std::string(kInner) + R"(
outer { p = f32[8192,16384] parameter(0)
  n = f32[8192,16384] fusion(p), kind=kLoop, calls=inner
  e = f32[8192,16384] exponential(n)
  ROOT r = f32[8192,16384] add(n, e) }
ENTRY e { p = f32[8192,16384] parameter(0)
  ROOT r = f32[8192,16384] fusion(p), kind=kLoop, calls=outer })");
  EXPECT_EQ(c.bytes_accessed, 1073741824);
}

// ... and again by a user beside it, as far as that reads.
TEST(XlaNumbersTest, AParameterFeedsANestedFusionAndATrivialUser) {
  const Cost half = RootCostOf(std::string(kInner) + R"(
outer { p = f32[8192,16384] parameter(0)
  n = f32[8192,16384] fusion(p), kind=kLoop, calls=inner
  d = f32[4096,16384] slice(p), slice={[0:4096],[0:16384]}
  ROOT r = (f32[4096,16384], f32[8192,16384]) tuple(d, n) }
ENTRY e { p = f32[8192,16384] parameter(0)
  ROOT r = (f32[4096,16384], f32[8192,16384]) fusion(p), kind=kLoop,
    calls=outer })");
  EXPECT_EQ(half.bytes_accessed, 1610612736);
  const Cost whole = RootCostOf(std::string(kInner) + R"(
outer { p = f32[8192,16384] parameter(0)
  n = f32[8192,16384] fusion(p), kind=kLoop, calls=inner
  ROOT r = (f32[8192,16384], f32[8192,16384]) tuple(p, n) }
ENTRY e { p = f32[8192,16384] parameter(0)
  ROOT r = (f32[8192,16384], f32[8192,16384]) fusion(p), kind=kLoop,
    calls=outer })");
  EXPECT_EQ(whole.bytes_accessed, 2147483648);
}

TEST(XlaNumbersTest, AFusionWhoseBodyHasNoLayout) {
  const Cost c = RootCostOf(R"(f {
  x = f32[2,3,4,5]{3,2,1,0} parameter(0)
  y = f32[3]{0} parameter(1)
  b = f32[2,3,4,5] broadcast(y), dimensions={1}
  ROOT a = f32[2,3,4,5]{3,2,1,0} add(x, b) }
ENTRY e { x = f32[2,3,4,5]{3,2,1,0} parameter(0) y = f32[3]{0} parameter(1)
  ROOT r = f32[2,3,4,5]{3,2,1,0} fusion(x, y), kind=kLoop, calls=f })");
  EXPECT_EQ(c.flops, 120);
  EXPECT_EQ(c.bytes_accessed, 4 * (120 + 3 + 120));
}

TEST(XlaNumbersTest, AnAllReduceOfATuple) {
  const Cost c = RootCostOf(
      "ENTRY e { x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT r = "
      "(f32[2], f32[2]) all-reduce(x, y), replica_groups={}, to_apply=add }");
  EXPECT_EQ(c.bytes_accessed, 4 * 2 * 2 * 2);
}

}  // namespace
}  // namespace ptxla::hlo
