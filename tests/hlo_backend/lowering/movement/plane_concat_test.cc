// Concatenations of whole planes, of which one array is in VMEM.
#include "hlo_backend/lowering/movement/plane_concat.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// $0: type; $1, $2: planes; $3: rows and columns of a plane.
std::string Joined(const char* type, int a, int b, const char* plane) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[3,$1,$3] parameter(0)
  b = $0[3,$2,$3] parameter(1)
  ROOT r = $0[3,$4,$3] concatenate(a, b), dimensions={1}
})",
                          type, a, b, plane, a + b);
}

TEST(PlaneConcatTest, PlanesLieSideBySideInEachOuterPlane) {
  HarnessOptions options;
  options.emit = EmitPlaneConcat;
  for (const char* chip : {"v3", "v4", "v5e", "tpu7x"}) {
    options.chip = chip;
    for (const char* type : {"f32", "bf16", "u8"}) {
      for (const char* plane : {"1,7", "7,127", "33,129"}) {
        for (const std::vector<int>& vmem :
             {std::vector<int>{2}, {0}, {0, 1}}) {
          options.in_vmem = vmem;
          EXPECT_OK(CompareKernel(Joined(type, 1, 6, plane), options).status())
              << chip << " " << type << " " << plane;
        }
      }
    }
  }
}

TEST(PlaneConcatTest, ManyPlanesAreATransferForEachOperandAndNoGrid) {
  HarnessOptions options;
  options.chip = "v6e";
  options.in_vmem = {2};
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Joined("bf16", 1, 196, "32,768"), options));
  EXPECT_EQ(kernel.descriptors.size(), 2);
  EXPECT_TRUE(kernel.grid.empty());
}

TEST(PlaneConcatTest, ArraysInHbmStreamThroughWindows) {
  HarnessOptions options;
  options.chip = "v6e";
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Joined("bf16", 1, 196, "32,768"), options));
  EXPECT_TRUE(kernel.descriptors.empty());
}

}  // namespace
}  // namespace ptxla::lowering
