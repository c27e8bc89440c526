// Members of a batch that follow one another in an array of more: does the
// product read those, and not the first ones?
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// The left operand, and both, of one array; K on lanes or rows.
TEST(SlicedMembersTest, ProductsOfThemEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"bf16", "f32"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = $0[7,40,72] parameter(0)
  q = $0[3,72,129] parameter(1)
  a = $0[3,40,72] slice(p), slice={[4:7], [0:40], [0:72]}
  ROOT d = f32[3,40,129] dot(a, q), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
ENTRY e {
  x = $0[7,40,72] parameter(0)
  y = $0[3,72,129] parameter(1)
  ROOT r = f32[3,40,129] fusion(x, y), kind=kOutput, calls=f
})",
                                               type),
                              ProductOn(chip))
                    .status())
          << chip << " " << type;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = $0[6,7,40] parameter(0)
  a = $0[3,7,40] slice(p), slice={[1:4], [0:7], [0:40]}
  b = $0[3,7,40] slice(p), slice={[3:6], [0:7], [0:40]}
  ROOT d = f32[3,40,40] dot(a, b), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
}
ENTRY e {
  x = $0[6,7,40] parameter(0)
  ROOT r = f32[3,40,40] fusion(x), kind=kOutput, calls=f
})",
                                               type),
                              ProductOn(chip))
                    .status())
          << chip << " " << type;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
