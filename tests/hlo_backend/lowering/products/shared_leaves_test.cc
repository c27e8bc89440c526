// Epilogues that read arrays with some of the batch dimensions of the product:
// biases of heads, masks of sequences. Bundles against the evaluator.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/products/shared_members.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Scores {
  int batch, heads, rows, columns;
};

// The softmax of scores plus `type`[dims], which is broadcast along all other
// dimensions; logical values keep or drop scores.
std::string WithShared(const Scores& s, const std::string& type,
                       const std::vector<int>& dims) {
  const int sizes[] = {s.batch, s.heads, s.rows, s.columns};
  std::vector<int> mine;
  for (int d : dims) mine.push_back(sizes[d]);
  const std::string shared =
      absl::StrCat(type, "[", absl::StrJoin(mine, ","), "]");
  const std::string full =
      absl::Substitute("[$0,$1,$2,$3]", s.batch, s.heads, s.rows, s.columns);
  const std::string combine =
      type == "pred"
          ? absl::Substitute(
                " l = f32[] constant(-9)\n lb = f32$0 broadcast(l), "
                "dimensions={}\n c = f32$0 select(sb, df, lb)",
                full)
          : absl::Substitute(" sf = f32$0 convert(sb)\n c = f32$0 add(df, sf)",
                             full);
  return absl::Substitute(R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  q = bf16[$0,$1,$2,64] parameter(0)
  k = bf16[$0,$1,$3,64] parameter(1)
  s = $4 parameter(2)
  d = bf16$5 dot(q, k), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
  df = f32$5 convert(d)
  sb = $6$5 broadcast(s), dimensions={$7}
$8
  low = f32[] constant(-inf)
  m = f32[$0,$1,$2] reduce(c, low), dimensions={3}, to_apply=max
  mb = f32$5 broadcast(m), dimensions={0,1,2}
  z = f32$5 subtract(c, mb)
  e = f32$5 exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1,$2] reduce(e, zero), dimensions={3}, to_apply=sum
  tb = f32$5 broadcast(t), dimensions={0,1,2}
  ROOT r = f32$5 divide(e, tb)
}
ENTRY e {
  q = bf16[$0,$1,$2,64] parameter(0)
  k = bf16[$0,$1,$3,64] parameter(1)
  s = $4 parameter(2)
  ROOT f = f32$5 fusion(q, k, s), kind=kOutput, calls=fused
})",
                          s.batch, s.heads, s.rows, s.columns, shared, full,
                          type, absl::StrJoin(dims, ","), combine);
}

const std::vector<int> kOfHeads = {1, 2, 3}, kOfSequences = {0, 2, 3},
                       kColumnsOfHeads = {1, 3}, kColumnsOfSequences = {0, 3};

TEST(SharedLeavesTest, ABiasOfEachHeadAndAMaskOfEachSequence) {
  for (const char* chip : kAllChips) {
    for (const Scores& s : {Scores{2, 3, 100, 130}, Scores{5, 4, 40, 128}}) {
      for (const auto& dims : {kOfHeads, kOfSequences}) {
        EXPECT_OK(
            CompareKernel(WithShared(s, "f32", dims), ProductOn(chip, 0.01))
                .status())
            << chip << " " << s.heads << " " << dims[0];
      }
    }
  }
}

TEST(SharedLeavesTest, NarrowOnesAreWidenedInTheKernel) {
  for (const char* chip : kAllChips) {
    for (const char* type : {"bf16", "pred"}) {
      for (const auto& dims : {kOfHeads, kOfSequences}) {
        EXPECT_OK(CompareKernel(WithShared({2, 3, 128, 130}, type, dims),
                                ProductOn(chip, 0.01))
                      .status())
            << chip << " " << type << " " << dims[0];
      }
    }
  }
}

// One row of columns for each member of one dimension: of words that hold one,
// two and four of them.
TEST(SharedLeavesTest, ColumnsOfEachHeadAndOfEachSequence) {
  for (const char* chip : kAllChips) {
    for (const char* type : {"f32", "bf16", "pred"}) {
      for (const auto& dims : {kColumnsOfHeads, kColumnsOfSequences}) {
        for (const Scores& s :
             {Scores{2, 3, 40, 130}, Scores{11, 5, 16, 128}}) {
          EXPECT_OK(
              CompareKernel(WithShared(s, type, dims), ProductOn(chip, 0.01))
                  .status())
              << chip << " " << type << " " << dims[0] << " " << s.batch;
        }
      }
    }
  }
}

// Quotients and remainders of thousands of members are exact: of a mask of each
// sequence, and of columns of each head, counts that are no powers of two.
TEST(SharedLeavesTest, ColumnsOfLargeBatches) {
  for (const auto& dims : {kColumnsOfHeads, kColumnsOfSequences}) {
    EXPECT_OK(CompareKernel(WithShared({131, 11, 8, 128}, "f32", dims),
                            ProductOn("v6e", 0.01))
                  .status())
        << dims[0];
  }
}

// More than a step holds, so that the shared planes move with the grid: again
// from the first one where a sequence begins, or once for all heads of one.
TEST(SharedLeavesTest, TheyMoveWithTheGrid) {
  for (const char* chip : {"v4", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.01);
    options.spec = &spec;
    for (const auto& dims : {kOfHeads, kOfSequences, kColumnsOfHeads}) {
      for (const char* type : {"f32", "pred"}) {
        const std::string text = WithShared({3, 4, 96, 200}, type, dims);
        EXPECT_OK(CompareKernel(text, options).status())
            << chip << " " << dims[0] << " " << type;
        ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
        EXPECT_GT(kernel.grid[0], 1) << chip;
      }
    }
  }
}

// Sequences are walked inside of rows: the bias of all heads stays for them.
TEST(SharedLeavesTest, ABiasIsReadOnceForAllSequences) {
  struct Case {
    const char* chip;
    Scores scores;
  };
  for (const Case& c :
       {Case{"v5e", {5, 2, 264, 128}}, Case{"v5e", {5, 2, 512, 128}},
        Case{"v6e", {5, 2, 1000, 128}}}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(c.chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", 3 << 19));
    HarnessOptions options = ProductOn(c.chip, 0.01);
    options.spec = &spec;
    const std::string text = WithShared(c.scores, "f32", kOfHeads);
    EXPECT_OK(CompareKernel(text, options).status()) << c.chip;
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
    ASSERT_EQ(kernel.grid.size(), 4) << c.chip;
    EXPECT_GT(kernel.grid[0], 1) << c.chip << c.scores.rows;
    EXPECT_GT(kernel.grid[2], 1) << c.chip << c.scores.rows;
    bool found = false;
    for (const isa::Window& w : kernel.windows) {
      if (w.arg != 2) continue;
      found = true;
      for (const isa::WindowDim& d : w.dims) EXPECT_NE(d.grid_dim, 2);
    }
    EXPECT_TRUE(found) << c.chip;
  }
}

TEST(SharedLeavesTest, TheyMayStayInVmem) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = ProductOn(chip, 0.01);
    options.in_vmem = {2};
    for (const auto& dims : {kOfHeads, kOfSequences, kColumnsOfSequences}) {
      EXPECT_OK(CompareKernel(WithShared({3, 4, 64, 300}, "f32", dims), options)
                    .status())
          << chip << " " << dims[0];
    }
  }
}

TEST(SharedMembersTest, AStepHasAPartOfThoseThatShareOrSeveralWholeOnes) {
  // [5 sequences, 12 heads] of which 12 share one.
  const SharedMembers of_sequences = {12, 5};
  for (int64_t block : {1, 2, 3, 4, 6, 12, 60}) {
    EXPECT_TRUE(of_sequences.Fits(block)) << block;
  }
  for (int64_t block : {5, 7, 8, 10, 18, 24}) {
    EXPECT_FALSE(of_sequences.Fits(block)) << block;
  }
  const SharedMembers of_heads = {1, 12};
  for (int64_t block : {1, 2, 3, 4, 6, 12, 24, 36}) {
    EXPECT_TRUE(of_heads.Fits(block)) << block;
  }
  for (int64_t block : {5, 7, 8, 9, 18}) {
    EXPECT_FALSE(of_heads.Fits(block)) << block;
  }
  // One of two heads stays for six steps of a member each; two take turns.
  EXPECT_EQ((SharedMembers{6, 2}.Moves(1, 12)), 2);
  EXPECT_EQ((SharedMembers{1, 2}.Moves(1, 12)), 12);
  EXPECT_EQ((SharedMembers{1, 2}.Moves(2, 6)), 1);
  EXPECT_EQ((SharedMembers{1, 2}.Planes(4)), 2);
  EXPECT_EQ(of_heads.Of(25), 1);
  EXPECT_EQ(of_sequences.Of(25), 2);
}

}  // namespace
}  // namespace ptxla::lowering
