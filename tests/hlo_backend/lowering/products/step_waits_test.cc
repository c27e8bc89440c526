// The waits of a product's steps for DMAs: who has them?
#include <algorithm>
#include <vector>

#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr char kProduct[] = R"(HloModule m
fused {
  a = bf16[4096,1024] parameter(0)
  b = bf16[1024,4096] parameter(1)
  c = f32[4096] parameter(2)
  d = f32[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  cc = f32[4096,4096] broadcast(c), dimensions={1}
  ROOT s = f32[4096,4096] add(d, cc)
}
ENTRY e {
  a = bf16[4096,1024] parameter(0)
  b = bf16[1024,4096] parameter(1)
  c = f32[4096] parameter(2)
  ROOT f = f32[4096,4096] fusion(a, b, c), kind=kOutput, calls=fused
})";

bool StepsWait(const isa::Kernel& kernel) {
  return std::any_of(
      kernel.step.begin(), kernel.step.end(), [](const isa::Node& node) {
        return node.block() != nullptr && node.block()->label == "step sync";
      });
}

int64_t Steps(const isa::Kernel& kernel) {
  int64_t steps = 1;
  for (const int64_t n : kernel.grid) steps *= n;
  return steps;
}

TEST(StepWaitsTest, NoStepWaitsWhereOnlyABiasIsCopiedOnce) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = ProductOn(chip);
    options.in_vmem = {0, 1, 3};
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(kProduct, options));
    EXPECT_GT(Steps(kernel), 1) << chip << ": " << kernel.note;
    EXPECT_FALSE(StepsWait(kernel)) << chip << ": " << kernel.note;
  }
}

TEST(StepWaitsTest, StepsWaitWhereAnOperandComesInBlocks) {
  for (const char* chip : {"v5e", "v6e"}) {
    HarnessOptions options = ProductOn(chip);
    options.in_vmem = {1, 3};
    ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(kProduct, options));
    EXPECT_TRUE(StepsWait(kernel)) << chip << ": " << kernel.note;
  }
}

}  // namespace
}  // namespace ptxla::lowering
