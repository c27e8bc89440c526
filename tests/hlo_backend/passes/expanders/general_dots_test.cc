// Dots of any dimension numbers mean the same in the form that kernels have.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(GeneralDotsTest, DotsOfAnyDimensionNumbers) {
  struct Case {
    const char *lhs, *rhs, *out, *numbers;
  };
  for (const Case& c : std::vector<Case>{
           {"4,6", "3,5,6", "4,3,5",
            "lhs_contracting_dims={1}, rhs_contracting_dims={2}"},
           {"6,3,4", "6,5,4", "4,3,5",
            "lhs_batch_dims={2}, rhs_batch_dims={2}, "
            "lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
           {"2,3,4,5", "2,5,4,6", "2,3,6",
            "lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={2,3}, rhs_contracting_dims={2,1}"},
           {"2,3,4,5", "2,6,5,7", "2,3,4,6,7",
            "lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={3}, rhs_contracting_dims={2}"},
           {"2,3", "2,3", "2",
            "lhs_batch_dims={0}, rhs_batch_dims={0}, "
            "lhs_contracting_dims={1}, rhs_contracting_dims={1}"},
           {"5", "7", "5,7",
            "lhs_contracting_dims={}, rhs_contracting_dims={}"},
           // Groups of rows, for which the right operand is repeated.
           {"2,3,24,4", "5,2,4", "2,3,24,5",
            "lhs_batch_dims={0}, rhs_batch_dims={1}, "
            "lhs_contracting_dims={3}, rhs_contracting_dims={2}"},
           {"24,3,2,4", "4,5,2", "2,24,3,5",
            "lhs_batch_dims={2}, rhs_batch_dims={2}, "
            "lhs_contracting_dims={3}, rhs_contracting_dims={0}"},
           {"5,3,4", "5,4,3", "3,4",
            "lhs_batch_dims={1,2}, rhs_batch_dims={2,1}, "
            "lhs_contracting_dims={0}, rhs_contracting_dims={0}"}}) {
    EXPECT_OK(SameAfterPass(
        absl::Substitute("HloModule m\nENTRY e {\n  x = f32[$0] parameter(0)\n"
                         "  y = f32[$1] parameter(1)\n"
                         "  ROOT d = f32[$2] dot(x, y), $3\n}\n",
                         c.lhs, c.rhs, c.out, c.numbers),
        "dot-shaper"));
  }
}

// Every order of the dimensions of a product with two free ones on each side,
// with operands smaller and larger than the product.
TEST(GeneralDotsTest, TransposedDotsOfAnyOrder) {
  const int sizes[] = {2, 3, 1, 5, 4};  // batch, left, left, right, right
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    for (const int depth : {2, 64}) {
      std::vector<int> dims;
      for (int d : order) dims.push_back(sizes[d]);
      EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[2,3,1,$0] parameter(0)
  y = f32[5,2,$0,4] parameter(1)
  d = f32[2,3,1,5,4] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  n = f32[2,3,1,5,4] negate(d)
  ROOT t = f32[$1] transpose(n), dimensions={$2}
})",
                                               depth, absl::StrJoin(dims, ","),
                                               absl::StrJoin(order, ",")),
                              "algebraic-simplifier", Passed::kMayStay));
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

// Rules that put 1s before a transpose and behind it must not take turns.
TEST(GeneralDotsTest, DroppedOnesBesideATransposeComeToRest) {
  struct Case {
    const char *from, *order, *between, *to;
  };
  for (const Case& c : {Case{"1,5,2,8", "1,3,2,0", "5,8,2,1", "5,8,2"},
                        Case{"1,5,2,8", "0,1,3,2", "1,5,8,2", "5,8,2"},
                        Case{"5,1,2,8", "2,1,3,0", "2,1,8,5", "2,8,5"}}) {
    for (const char* name : {"reshape(t)", "negate(t)"}) {
      const bool drops = name[0] == 'r';
      EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[$0] parameter(0)
  t = f32[$2] transpose(x), dimensions={$1}
  r = f32[$3] $4
  ROOT y = f32[$3] tanh(r)
})",
                                               c.from, c.order, c.between,
                                               drops ? c.to : c.between, name),
                              "algebraic-simplifier", Passed::kMayStay));
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
