#include "hlo_backend/analysis/cost_analysis.h"

#include <cmath>

#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/analysis/root_cost.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// The hand-checkable numbers of XLA's own tests.
TEST(CostAnalysisTest, NumbersOfXlasTests) {
  struct {
    const char* body;
    double flops, transcendentals, bytes;
  } cases[] = {
      {"x = f32[10,5] parameter(0) y = f32[5,30] parameter(1) ROOT d = "
       "f32[10,30] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       3000, 0, 4 * (50 + 150 + 300)},
      {"x = f32[10,5,5] parameter(0) y = f32[5,5,30] parameter(1) ROOT d = "
       "f32[10,30] dot(x, y), lhs_contracting_dims={1,2}, "
       "rhs_contracting_dims={0,1}",
       15000, 0, 4 * (250 + 750 + 300)},
      {"x = f32[10,5,5] parameter(0) y = f32[5,5,30] parameter(1) ROOT d = "
       "f32[5,10,30] dot(x, y), lhs_batch_dims={1}, lhs_contracting_dims={2}, "
       "rhs_batch_dims={0}, rhs_contracting_dims={1}",
       15000, 0, 4 * (250 + 750 + 1500)},
      {"x = f32[10] parameter(0) ROOT d = f32[10,7] broadcast(x), "
       "dimensions={0}",
       0, 0, 4 * (10 + 70)},
      {"x = f32[1,1,10,20] parameter(0) k = f32[1,1,3,3] parameter(1) ROOT c = "
       "f32[1,1,8,18] convolution(x, k), window={size=3x3}, "
       "dim_labels=bf01_oi01->bf01",
       2592, 0, 4 * (200 + 9 + 144)},
      {"x = f32[1,1,3,3] parameter(0) k = f32[1,1,3,3] parameter(1) ROOT c = "
       "f32[1,1,3,3] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
       "dim_labels=bf01_oi01->bf01",
       2 * (4 + 6 + 4 + 6 + 9 + 6 + 4 + 6 + 4), 0, 4 * (9 + 9 + 9)},
      {"x = f32[1,120,10,20] parameter(0) k = f32[120,1,3,3] parameter(1) ROOT "
       "c = f32[1,120,8,18] convolution(x, k), window={size=3x3}, "
       "dim_labels=bf01_oi01->bf01, feature_group_count=120",
       120 * 2592, 0, 120 * 4 * (200 + 9 + 144)},
      {"x = f32[10,20] parameter(0) z = f32[] parameter(1) ROOT r = f32[10] "
       "reduce(x, z), dimensions={1}, to_apply=add",
       190, 0, 4 * (200 + 1 + 10)},
      {"x = f32[10,20] parameter(0) z = f32[] parameter(1) ROOT r = f32[2,4] "
       "reduce-window(x, z), window={size=4x5 stride=4x5}, to_apply=add",
       2 * 4 * (4 * 5 - 1), 0, 4 * (200 + 1 + 8)},
      {"x = f32[10,20] parameter(0) s = f32[2,4] parameter(1) z = f32[] "
       "parameter(2) ROOT r = f32[10,20] select-and-scatter(x, s, z), "
       "window={size=4x5 stride=4x5}, select=ge, scatter=add",
       2 * 4 * (4 * 5 - 1 + 1), 0, 4 * (200 + 8 + 1 + 200)},
      {"x = f32[2] parameter(0) ROOT r = f32[1] slice(x), slice={[0:1]}", 0, 0,
       8},
      {"x = f32[2] parameter(0) i = s32[] parameter(1) ROOT r = f32[1] "
       "dynamic-slice(x, i), dynamic_slice_sizes={1}",
       0, 0, 12},
      {"x = f32[2] parameter(0) u = f32[1] parameter(1) i = s32[] parameter(2) "
       "ROOT r = f32[2] dynamic-update-slice(x, u, i)",
       0, 0, 12},
      {"x = f32[3,3] parameter(0) i = s32[2] parameter(1) ROOT r = f32[2,3] "
       "gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
       0, 0, 56},
      {"x = f32[3,3] parameter(0) i = s32[2] parameter(1) u = f32[2,3] "
       "parameter(2) ROOT r = f32[3,3] scatter(x, i, u), "
       "update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       6, 0, 4 * (2 + 3 * 6)},
      {"x = f32[2] parameter(0) y = f32[2] parameter(1) ROOT r = (f32[2], "
       "f32[2]) all-reduce(x, y), replica_groups={}, to_apply=add",
       4, 0, 4 * 2 * 2 * 2},
      {"x = f32[10] parameter(0) ROOT r = f32[10] tanh(x)", 0, 10, 80},
      {"x = f32[8,4] parameter(0) ROOT r = f32[4,8] transpose(x), "
       "dimensions={1,0}",
       0, 0, 256},
      {"x = f32[8,4]{0,1} parameter(0) ROOT r = f32[4,8]{1,0} transpose(x), "
       "dimensions={1,0}",
       0, 0, 0},
      {"x = f64[5,4,4] parameter(0) ROOT r = f64[5,4,4] cholesky(x)", 106, 0,
       8 * 5 * 16},
      {"x = f32[3,3] parameter(0) y = f32[3,2] parameter(1) ROOT r = f32[3,2] "
       "triangular-solve(x, y), left_side=true, transpose_a=NO_TRANSPOSE",
       2 * 9 * 2, 0, 4 * (9 / 2.0 + 6 + 6)},
      {"x = f32[3,6] parameter(0) ROOT r = c64[3,4] fft(x), fft_type=RFFT, "
       "fft_length={6}",
       8 * 18 * 2, 0, 4 * 18 + 8 * 12},
      {"x = f32[3,8] parameter(0) ROOT r = (f32[3,2], s32[3,2]) topk(x), k=2, "
       "largest=true",
       0, 0, 4 * 24 + 8 * 6},
      {"x = f32[6,2] parameter(0) y = f32[4,2,7] parameter(1) g = s32[4] "
       "parameter(2) ROOT r = f32[6,7] ragged-dot(x, y, g), "
       "lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
       "lhs_ragged_dims={0}, rhs_group_dims={0}",
       2 * 2 * 7, 0, 4 * (12 + 56 + 4 + 42)},
      {"x = (f32[3], f32[5]) parameter(0) t = token[] after-all() ROOT r = "
       "token[] outfeed(x, t), outfeed_shape=(f32[3], f32[5])",
       0, 0, 4 * (3 + 5)},
      {"x = f32[8,4] parameter(0) ROOT r = f32[8,4] custom-call(x), "
       "custom_call_target=\"f\"",
       -1, 0, -1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    const Cost cost = RootCost(c.body, CostOptions::LikeXla());
    EXPECT_EQ(cost.flops, c.flops);
    EXPECT_EQ(cost.transcendentals, c.transcendentals);
    EXPECT_EQ(cost.bytes_accessed, c.bytes);
  }
}

TEST(CostAnalysisTest, RowsOfARaggedDotAndStepsOfAScanCountUnlessLikeXla) {
  constexpr char kRagged[] =
      "x = f32[6,2] parameter(0) y = f32[4,2,7] parameter(1) g = s32[4] "
      "parameter(2) ROOT r = f32[6,7] ragged-dot(x, y, g), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={0}, rhs_group_dims={0}";
  EXPECT_EQ(RootCost(kRagged, {}).flops, 2 * 6 * 2 * 7);
  auto module = ParseModule(R"(HloModule m
step {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] add(x, c)
  ROOT t = (f32[3], f32[3]) tuple(s, s)
}

ENTRY e {
  x = f32[5,3] parameter(0)
  c = f32[3] parameter(1)
  ROOT r = (f32[5,3], f32[3]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step
})");
  ASSERT_OK(module.status());
  EXPECT_EQ(CostAnalysis().Of(**module).flops, 5 * 3);
  EXPECT_EQ(CostAnalysis(CostOptions::LikeXla()).Of(**module).flops, 3 * 3);
}

TEST(CostAnalysisTest, AFusionReadsItsConstantsOfMoreThanOneElement) {
  auto module = ParseModule(R"(HloModule m
fused {
  p = s16[2,3] parameter(0)
  k = s16[2,3] constant({{8, -9, 2}, {5, 0, 7}})
  ROOT n = s16[2,3] add(p, k)
}

ENTRY e {
  p = s16[2,3] parameter(0)
  ROOT r = s16[2,3] fusion(p), kind=kLoop, calls=fused
})");
  ASSERT_OK(module.status());
  EXPECT_EQ(CostAnalysis().Of(**module).bytes_accessed, 3 * 12);
}

TEST(CostAnalysisTest, ADotWrittenAsAConvolutionCostsTheSame) {
  // A batch of 8 as a spatial dimension with base dilation: a formula without
  // the holes would count 8 times too much.
  const double flops = 2.0 * 8 * 64 * 32 * 16;
  EXPECT_EQ(RootCost("x = f32[8,64,16] parameter(0) y = f32[8,16,32] "
                     "parameter(1) ROOT c = f32[8,64,32] convolution(x, y), "
                     "window={size=8 stride=7 lhs_dilate=8}, "
                     "dim_labels=0bf_0io->0bf",
                     {})
                .flops,
            flops);
}

TEST(CostAnalysisTest, ValidPositionsAreThoseOfCountingOneByOne) {
  for (int seed = 0; seed < 200; ++seed) {
    auto pick = [n = static_cast<uint32_t>(seed * 7919 + 1)](int most) mutable {
      n = n * 1664525u + 1013904223u;
      return static_cast<int64_t>(1 + (n >> 16) % most);
    };
    const int64_t base = pick(9), kernel = pick(9);
    WindowDim d;
    d.size = kernel;
    d.stride = pick(4);
    d.base_dilation = pick(4);
    d.window_dilation = pick(3);
    d.padding_low = pick(7) - 3;
    d.padding_high = pick(7) - 1;
    const int64_t outputs = d.OutputSize(base);
    if (outputs == 0) continue;
    int64_t pairs = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      for (int64_t o = 0; o < outputs; ++o) {
        const int64_t at = o * d.stride + k * d.window_dilation - d.padding_low;
        pairs += at >= 0 && at <= (base - 1) * d.base_dilation &&
                 at % d.base_dilation == 0;
      }
    }
    Window window;
    window.dims.push_back(d);
    EXPECT_EQ(
        RootCost(absl::StrCat("x = f32[1,", base, ",1] parameter(0) k = f32[",
                              kernel, ",1,1] parameter(1) ROOT c = f32[1,",
                              outputs, ",1] convolution(x, k), window=",
                              window.ToString(), ", dim_labels=b0f_0io->b0f"),
                 {})
            .flops,
        2.0 * static_cast<double>(pairs))
        << base << " " << window.ToString();
  }
}

TEST(CostAnalysisTest, HugeSpatialDimensionsAreCountedInClosedForm) {
  const int64_t large = 512 * 1024;
  EXPECT_EQ(RootCost(absl::StrCat("x = f32[1,1,", large,
                                  "] parameter(0) k = f32[1,1,", large,
                                  "] parameter(1) ROOT c = f32[1,1,", large,
                                  "] convolution(x, k), window={size=", large,
                                  " stride=", large - 1, " lhs_dilate=", large,
                                  "}, dim_labels=bf0_oi0->bf0"),
                     {})
                .flops,
            2.0 * static_cast<double>(large));
}

TEST(CostAnalysisTest, AFusionReadsWhatItsBodyUses) {
  auto module = ParseModule(R"(HloModule t
    fused {
      big = f32[100,10] parameter(0)
      i = s32[] parameter(1)
      z = s32[] constant(0)
      row = f32[1,10] dynamic-slice(big, i, z), dynamic_slice_sizes={1,10}
      unused = f32[50] parameter(2)
      e = f32[1,10] exponential(row)
      ROOT m = f32[1,10] multiply(e, row)
    }
    ENTRY main {
      a = f32[100,10] parameter(0)
      i = s32[] parameter(1)
      u = f32[50] parameter(2)
      ROOT f = f32[1,10] fusion(a, i, u), kind=kLoop, calls=fused
    })");
  ASSERT_OK(module.status());
  const Instruction& fusion = *(*module)->entry()->root();
  CostAnalysis costs;
  EXPECT_EQ(costs.OperandBytes(fusion, 0), 4 * 10);  // the row, once
  EXPECT_EQ(costs.OperandBytes(fusion, 2), 0);
  EXPECT_EQ(costs.OutputBytes(fusion), 40);
  EXPECT_EQ(costs.Of(fusion).flops, 10);
  EXPECT_EQ(costs.Of(fusion).transcendentals, 10);
}

constexpr char kLoop[] = R"(HloModule t
  body {
    s = (s32[], f32[100]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    one = s32[] constant(1)
    n = s32[] add(i, one)
    x = f32[100] get-tuple-element(s), index=1
    y = f32[100] negate(x)
    ROOT t = (s32[], f32[100]) tuple(n, y)
  }
  cond {
    s = (s32[], f32[100]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    limit = s32[] constant(7)
    ROOT c = pred[] compare(i, limit), direction=LT
  }
  ENTRY main {
    z = s32[] constant(0)
    x = f32[100] parameter(0)
    t = (s32[], f32[100]) tuple(z, x)
    ROOT w = (s32[], f32[100]) while(t), condition=cond, body=body
  })";

TEST(CostAnalysisTest, ALoopCountsItsTrips) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kLoop));
  const Instruction& loop = *module->entry()->root();
  // Per trip: 100 negations, one add, one compare.
  EXPECT_EQ(CostAnalysis().Of(loop).flops, 7 * 102);
  EXPECT_EQ(CostAnalysis(CostOptions::LikeXla()).Of(loop).flops, 102);
}

TEST(CostAnalysisTest, AnAllReduceAddsItsGroup) {
  const char* body =
      "x = f32[100] parameter(0) ROOT r = f32[100] all-reduce(x), "
      "replica_groups=[2,8]<=[16], to_apply=add";
  EXPECT_EQ(RootCost(body, {}).flops, 700);
  EXPECT_EQ(RootCost(body, CostOptions::LikeXla()).flops, 100);
}

// Columns of xla_says.csv: what XLA itself counts for each corpus file.
TEST(CostAnalysisTest, TheCorpusCostsWhatXlaSays) {
  const auto path = ::ptxla::testing::SharedPath("hlo_corpus/xla_says.csv");
  if (!path.ok()) GTEST_SKIP() << path.status();
  ASSERT_OK_AND_ASSIGN(const std::string csv, ReadFile(*path));
  int checked = 0;
  for (absl::string_view line : absl::StrSplit(csv, '\n')) {
    const std::vector<std::string> f = absl::StrSplit(line, ',');
    if (f.size() < 7 || f[1] != "1") continue;
    SCOPED_TRACE(f[0]);
    ASSERT_OK_AND_ASSIGN(const std::string file,
                         ::ptxla::testing::SharedPath(f[0]));
    auto module = ParseModuleFile(file);
    ASSERT_OK(module.status());
    EXPECT_EQ((*module)->computations().size(), std::stoul(f[2]));
    EXPECT_EQ((*module)->instruction_count(), std::stoll(f[3]));
    // XLA sums in 32-bit floats, operands before users; summed in the same
    // way ours are the same numbers, but for the last bit where nested
    // computations were summed in another order.
    CostAnalysis costs(CostOptions::LikeXla());
    float flops = 0, transcendentals = 0, bytes = 0;
    for (const Instruction* i : (*module)->entry()->PostOrder()) {
      const Cost cost = costs.Of(*i);
      flops += static_cast<float>(cost.flops);
      transcendentals += static_cast<float>(cost.transcendentals);
      bytes += static_cast<float>(cost.bytes_accessed);
    }
    auto near = [](float ours, const std::string& theirs) {
      const double xla = std::stod(theirs);
      return std::abs(ours - xla) <= 1.3e-7 * std::abs(xla);
    };
    EXPECT_TRUE(near(flops, f[4])) << flops << " vs " << f[4];
    EXPECT_TRUE(near(transcendentals, f[5]))
        << transcendentals << " vs " << f[5];
    EXPECT_TRUE(near(bytes, f[6])) << bytes << " vs " << f[6];
    ++checked;
  }
  EXPECT_EQ(checked, 123);
}

}  // namespace
}  // namespace ptxla::hlo
