// Operands whose batch members lie in the rows of tiles ([batch, sequence,
// heads, depth]): do products take the right rows of each?
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// [2, heads, rows, depth] as it lies in [2, rows, heads, depth]; few heads have
// low tiles.
std::string InPlace(const std::string& type, int64_t heads, int64_t rows,
                    int64_t depth, int generation_tile) {
  int64_t tile = generation_tile;
  while (tile / 2 >= heads && tile > 2) tile /= 2;
  return absl::Substitute("$0[2,$1,$2,$3]{3,1,2,0:T($4,128)$5}", type, heads,
                          rows, depth, tile, type == "bf16" ? "(2,1)" : "");
}

// Queries, as they are named, times keys in place: K on the lanes of both.
std::string Scores(const std::string& type, int64_t heads, int64_t queries,
                   int64_t keys, int64_t depth) {
  return absl::Substitute(
      R"(HloModule m
ENTRY e {
  q = $0[2,$1,$2,$3] parameter(0)
  k = $4 parameter(1)
  ROOT d = f32[2,$1,$2,$5] dot(q, k), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
})",
      type, heads, queries, depth, InPlace(type, heads, keys, depth, 8), keys);
}

TEST(MemberRowsTest, KeysOfHeadsEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"bf16", "f32"}) {
      for (const int64_t heads : {4, 8, 12, 16}) {
        EXPECT_OK(
            CompareKernel(Scores(type, heads, 24, 40, 72), ProductOn(chip))
                .status())
            << chip << " " << type << " " << heads;
      }
    }
  }
}

// Rows are K: those beyond it are of no array, and count for nothing.
TEST(MemberRowsTest, ValuesOfHeadsEqualTheEvaluator) {
  for (const char* chip : {"v3", "v5p", "v6e"}) {
    for (const char* type : {"bf16", "f32"}) {
      for (const int64_t keys : {7, 129, 200}) {
        EXPECT_OK(CompareKernel(absl::Substitute(
                                    R"(HloModule m
ENTRY e {
  p = $0[2,8,20,$1] parameter(0)
  v = $2 parameter(1)
  ROOT d = f32[2,8,20,160] dot(p, v), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}
})",
                                    type, keys, InPlace(type, 8, keys, 160, 8)),
                                ProductOn(chip))
                      .status())
            << chip << " " << type << " " << keys;
      }
    }
  }
}

// Both operands, one of them on its way through the XLUs: dV = P^T dO.
TEST(MemberRowsTest, BothOperandsMayLieSo) {
  for (const char* chip : {"v4", "v6e"}) {
    EXPECT_OK(CompareKernel(absl::Substitute(
                                R"(HloModule m
ENTRY e {
  a = $0 parameter(0)
  b = $1 parameter(1)
  ROOT d = f32[2,16,136,64] dot(a, b), lhs_batch_dims={0,1}, lhs_contracting_dims={2}, rhs_batch_dims={0,1}, rhs_contracting_dims={2}
})",
                                InPlace("bf16", 16, 144, 136, 8),
                                InPlace("bf16", 16, 144, 64, 8)),
                            ProductOn(chip))
                  .status())
        << chip;
  }
}

// [rows, batch, heads, depth], and a batch of heads alone.
TEST(MemberRowsTest, RowsMayBeOutsideOfTheBatch) {
  for (const char* layout : {"bf16[3,8,48,128]{3,1,0,2:T(8,128)(2,1)}",
                             "bf16[3,8,48,128]{3,1,2,0:T(8,128)(2,1)}"}) {
    EXPECT_OK(CompareKernel(absl::Substitute(
                                R"(HloModule m
ENTRY e {
  a = bf16[3,8,32,128] parameter(0)
  b = $0 parameter(1)
  ROOT d = bf16[3,8,32,48] dot(a, b), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
})",
                                layout),
                            ProductOn("v6e"))
                  .status())
        << layout;
  }
}

// Members are the planes of one array and tiles of 8 of the other: steps of
// some of them, or of several batches, take both along.
TEST(MemberRowsTest, StepsOfSomeMembersTakeTheRightOnes) {
  for (const char* dims : {"64", "512"}) {
    HarnessOptions options = ProductOn("v4");
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(absl::Substitute(
                                           R"(HloModule m
ENTRY e {
  a = f32[2,32,128,256] parameter(0)
  b = f32[2,32,$0,256]{3,1,2,0:T(8,128)} parameter(1)
  ROOT d = f32[2,32,128,$0] dot(a, b), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
})",
                                           dims),
                                       options));
    EXPECT_GT(result.kernel.grid[0], 1) << dims;
  }
}

// In VMEM it is walked where it is, if it has no rows beyond its end.
TEST(MemberRowsTest, InVmemOnlyWholeTilesOfRows) {
  HarnessOptions options = ProductOn("v6e");
  options.in_vmem = {1};
  EXPECT_OK(CompareKernel(Scores("bf16", 16, 32, 128, 128), options).status());
  EXPECT_THAT(
      CompareKernel(Scores("bf16", 16, 32, 40, 128), options).status(),
      ::ptxla::testing::StatusIs(absl::StatusCode::kUnimplemented,
                                 ::testing::HasSubstr("beyond its end")));
}

}  // namespace
}  // namespace ptxla::lowering
