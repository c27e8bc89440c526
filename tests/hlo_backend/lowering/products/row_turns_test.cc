// Products that are stored, with reduces along their rows, whose columns may
// come in several steps: bundles against the evaluator.
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Logits with their maximum, and the sum of their squares.
std::string Logits(int batch, int rows, int columns, int depth) {
  return absl::Substitute(R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
fused {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$3,$2] parameter(1)
  d = f32[$0,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  c = f32[] constant(-0.5)
  cb = f32[$0,$1,$2] broadcast(c), dimensions={}
  s = f32[$0,$1,$2] multiply(d, cb)
  low = f32[] constant(-inf)
  m = f32[$0,$1] reduce(s, low), dimensions={2}, to_apply=max
  z = f32[$0,$1,$2] multiply(d, d)
  one = f32[] constant(1)
  t = f32[$0,$1] reduce(z, one), dimensions={2}, to_apply=sum
  ROOT r = (f32[$0,$1,$2], f32[$0,$1], f32[$0,$1]) tuple(d, m, t)
}
ENTRY e {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$3,$2] parameter(1)
  f = (f32[$0,$1,$2], f32[$0,$1], f32[$0,$1]) fusion(q, k), kind=kOutput, calls=fused
  x = f32[$0,$1,$2] get-tuple-element(f), index=0
  y = f32[$0,$1] get-tuple-element(f), index=1
  z = f32[$0,$1] get-tuple-element(f), index=2
  ROOT r = (f32[$0,$1,$2], f32[$0,$1], f32[$0,$1]) tuple(x, y, z)
})",
                          batch, rows, columns, depth);
}

TEST(RowTurnsTest, WholeRowsOfAStep) {
  for (const char* chip : kAllChips) {
    EXPECT_OK(
        CompareKernel(Logits(1, 7, 129, 64), ProductOn(chip, 0.02)).status())
        << chip;
    EXPECT_OK(
        CompareKernel(Logits(3, 130, 256, 32), ProductOn(chip, 0.02)).status())
        << chip;
  }
}

// Columns in several steps, the last of which may go beyond the array; rows and
// members in several steps around them.
TEST(RowTurnsTest, ColumnsOfARowComeInSeveralSteps) {
  for (const char* chip : kAllChips) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    for (const int columns : {1000, 1280}) {
      for (const int rows : {100, 300}) {
        const std::string text = Logits(2, rows, columns, 96);
        EXPECT_OK(CompareKernel(text, options).status())
            << chip << " " << rows << " " << columns;
        ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
        EXPECT_GT(kernel.grid[2], 1) << chip << " columns";
      }
    }
  }
}

// Two cores share members or rows, not the columns of a row; what they make of
// it lies in rows of tiles or, of one member, in a line.
TEST(RowTurnsTest, CoresShareRows) {
  for (const char* chip : {"v4", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", 1 << 20));
    HarnessOptions options = ProductOn(chip, 0.02);
    options.spec = &spec;
    for (const int batch : {1, 16, 31}) {
      const std::string text = Logits(batch, 520, 1000, 96);
      EXPECT_OK(CompareKernel(text, options).status()) << chip << " " << batch;
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
      EXPECT_GE(kernel.megacore_dim, 0) << chip << " " << batch;
      EXPECT_NE(kernel.megacore_dim, 2) << chip << " columns";
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
