// Batch members that share the right operand (groups of queries and their keys,
// a weight of all sequences): does each take the plane of its group?
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(SharedOperandTest, KeysOfGroupsEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"bf16", "f32"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  q = $0[3,4,40,72] parameter(0)
  k = $0[3,56,72] parameter(1)
  ROOT d = f32[3,4,40,56] dot(q, k), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={2}
})",
                                               type),
                              ProductOn(chip))
                    .status())
          << chip << " " << type;
    }
  }
}

// Two dimensions of groups; rows of the shared operand are K.
TEST(SharedOperandTest, ValuesOfGroupsEqualTheEvaluator) {
  for (const char* chip : {"v3", "v5p", "v6e"}) {
    for (const int64_t keys : {7, 129, 200}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  p = bf16[2,3,2,20,$0] parameter(0)
  v = bf16[2,$0,160] parameter(1)
  ROOT d = bf16[2,3,2,20,160] dot(p, v), lhs_batch_dims={0}, lhs_contracting_dims={4}, rhs_batch_dims={0}, rhs_contracting_dims={1}
})",
                                               keys),
                              ProductOn(chip))
                    .status())
          << chip << " " << keys;
    }
  }
}

// Rows with padding between them, of one weight; K on lanes or rows.
TEST(SharedOperandTest, AWeightOfAllPlanesEqualsTheEvaluator) {
  for (const char* chip : {"v3", "v4", "v6e"}) {
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = f32[5,30,72] parameter(0)
  w = f32[72,200] parameter(1)
  ROOT d = f32[5,30,200] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
})",
                            ProductOn(chip))
                  .status())
        << chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  x = bf16[5,72,30] parameter(0)
  w = bf16[200,72] parameter(1)
  ROOT d = bf16[5,30,200] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})",
                            ProductOn(chip))
                  .status())
        << chip;
  }
}

// Keys of 8 heads in the rows of tiles, each for four queries.
TEST(SharedOperandTest, KeysInPlaceMayBeShared) {
  for (const char* chip : {"v4", "v6e"}) {
    for (const char* heads : {"4", "8", "16"}) {
      EXPECT_OK(
          CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  q = bf16[2,$0,4,24,72] parameter(0)
  k = bf16[2,$0,40,72]{3,1,2,0:T($1,128)(2,1)} parameter(1)
  ROOT d = f32[2,$0,4,24,40] dot(q, k), lhs_batch_dims={0,1}, lhs_contracting_dims={4}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
})",
                                         heads, heads[0] == '4' ? "4" : "8"),
                        ProductOn(chip))
              .status())
          << chip << " " << heads;
    }
  }
}

// The result lies transposed: the shared operand streams past the other one.
TEST(SharedOperandTest, TheLeftOfAnExchangedProductMayBeShared) {
  EXPECT_OK(CompareKernel(R"(HloModule m
ENTRY e {
  q = bf16[3,4,40,72] parameter(0)
  k = bf16[3,56,72] parameter(1)
  ROOT d = f32[3,4,40,56]{2,3,1,0} dot(q, k), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={2}
})",
                          ProductOn("v6e"))
                .status());
}

// Steps of part of a group, of one group and of several.
TEST(SharedOperandTest, StepsOfSomeMembersTakeTheRightPlanes) {
  for (const char* groups : {"2,16", "16,2", "3,6"}) {
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult result,
        CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  q = f32[$0,256,256] parameter(0)
  k = f32[$1,512,256] parameter(1)
  ROOT d = f32[$0,256,512] dot(q, k), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={2}
})",
                                       groups,
                                       std::string(groups).substr(
                                           0, std::string(groups).find(','))),
                      ProductOn("v6e")));
    EXPECT_GT(result.kernel.grid[0], 1) << groups;
  }
}

// A softmax with a causal mask behind the shared product, and a left operand
// that is computed before it.
TEST(SharedOperandTest, RowsAndComputedOperandsEqualTheEvaluator) {
  for (const char* chip : {"v4", "v6e"}) {
    EXPECT_OK(CompareKernel(R"(HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
f {
  q = bf16[2,3,24,64] parameter(0)
  k = bf16[2,144,64] parameter(1)
  m = f32[24,144] parameter(2)
  d = f32[2,3,24,144] dot(q, k), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  mb = f32[2,3,24,144] broadcast(m), dimensions={2,3}
  s = f32[2,3,24,144] add(d, mb)
  low = f32[] constant(-inf)
  top = f32[2,3,24] reduce(s, low), dimensions={3}, to_apply=max
  tb = f32[2,3,24,144] broadcast(top), dimensions={0,1,2}
  c = f32[2,3,24,144] subtract(s, tb)
  e = f32[2,3,24,144] exponential(c)
  zero = f32[] constant(0)
  t = f32[2,3,24] reduce(e, zero), dimensions={3}, to_apply=sum
  sb = f32[2,3,24,144] broadcast(t), dimensions={0,1,2}
  p = f32[2,3,24,144] divide(e, sb)
  ROOT r = bf16[2,3,24,144] convert(p)
}
ENTRY e {
  q = bf16[2,3,24,64] parameter(0)
  k = bf16[2,144,64] parameter(1)
  m = f32[24,144] parameter(2)
  ROOT r = bf16[2,3,24,144] fusion(q, k, m), kind=kOutput, calls=f
})",
                            ProductOn(chip))
                  .status())
        << chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
f {
  x = f32[2,3,24,136] parameter(0)
  s = f32[2,3,24] parameter(1)
  v = bf16[2,136,64] parameter(2)
  e = f32[2,3,24,136] exponential(x)
  sb = f32[2,3,24,136] broadcast(s), dimensions={0,1,2}
  p = f32[2,3,24,136] multiply(e, sb)
  c = bf16[2,3,24,136] convert(p)
  ROOT d = bf16[2,3,24,64] dot(c, v), lhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
ENTRY e {
  x = f32[2,3,24,136] parameter(0)
  s = f32[2,3,24] parameter(1)
  v = bf16[2,136,64] parameter(2)
  ROOT r = bf16[2,3,24,64] fusion(x, s, v), kind=kOutput, calls=f
})",
                            ProductOn(chip))
                  .status())
        << chip;
  }
}

// One matrix that all members share is the left operand: a broadcast inside of
// the fusion says so. Its K lies on lanes, or on rows that are turned once for
// all of them; values per row come behind the product.
TEST(SharedOperandTest, AMatrixOfAllMembersOnTheLeftEqualsTheEvaluator) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const bool turned : {false, true}) {
      for (const int64_t rows : {40, 333}) {
        const std::string w =
            turned ? absl::StrCat("72,", rows) : absl::StrCat(rows, ",72");
        EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  w = f32[$0] parameter(0)
  x = bf16[5,72,136] parameter(1)
  bias = f32[$1] parameter(2)
  c = bf16[$0] convert(w)
  s = bf16[5,$0] broadcast(c), dimensions={1,2}
  d = f32[5,$1,136] dot(s, x), lhs_batch_dims={0}, lhs_contracting_dims={$2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  b = f32[5,$1,136] broadcast(bias), dimensions={1}
  a = f32[5,$1,136] add(d, b)
  ROOT r = bf16[5,$1,136] convert(a)
}
ENTRY e {
  w = f32[$0] parameter(0)
  x = bf16[5,72,136] parameter(1)
  bias = f32[$1] parameter(2)
  ROOT r = bf16[5,$1,136] fusion(w, x, bias), kind=kOutput, calls=f
})",
                                                 w, rows, turned ? 1 : 2),
                                ProductOn(chip, 0.1))
                      .status())
            << chip << " " << w;
      }
    }
  }
}

// A matrix of each group, shared by its members, as the left or the right
// operand; small ones, and ones of which a step takes some members.
TEST(SharedOperandTest, MatricesOfGroupsOnEitherSideEqualTheEvaluator) {
  struct Case {
    int groups, members, rows, columns;
  };
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    for (const Case& c : {Case{2, 3, 40, 136}, {3, 4, 333, 200}}) {
      for (const bool turned : {false, true}) {
        const std::string batch = absl::StrCat(c.groups, ",", c.members, ",");
        const std::string k =
            turned ? absl::StrCat("72,", c.rows) : absl::StrCat(c.rows, ",72");
        const std::string text = R"(HloModule m
f {
  k = bf16[$0,$2] parameter(0)
  q = bf16[$1$3,72] parameter(1)
  s = bf16[$1$2] broadcast(k), dimensions={0,2,3}
  d = f32[$1$4] dot($5), lhs_batch_dims={0,1}, lhs_contracting_dims={$6}, rhs_batch_dims={0,1}, rhs_contracting_dims={$7}
  ROOT r = f32[$1$4] negate(d)
}
ENTRY e {
  k = bf16[$0,$2] parameter(0)
  q = bf16[$1$3,72] parameter(1)
  ROOT r = f32[$1$4] fusion(k, q), kind=kOutput, calls=f
})";
        const int of_k = turned ? 2 : 3;
        for (const bool left : {true, false}) {
          const std::string result = left
                                         ? absl::StrCat(c.rows, ",", c.columns)
                                         : absl::StrCat(c.columns, ",", c.rows);
          EXPECT_OK(CompareKernel(
                        absl::Substitute(text, c.groups, batch, k, c.columns,
                                         result, left ? "s, q" : "q, s",
                                         left ? of_k : 3, left ? 3 : of_k),
                        ProductOn(chip))
                        .status())
              << chip << " " << k << " " << left;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
