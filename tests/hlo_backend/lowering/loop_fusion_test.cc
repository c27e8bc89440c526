#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Binary(absl::string_view op, absl::string_view type,
                   absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $1[$2] parameter(0)
  b = $1[$2] parameter(1)
  ROOT r = $1[$2] $0(a, b)
})",
                          op, type, dims);
}

TEST(LoopFusionTest, AddsOfRaggedShapesEqualTheEvaluator) {
  for (const char* chip : {"unit", "v6e", "v5e", "v4"}) {
    for (const char* dims : {"1", "7", "129", "1000", "5000", "1,1", "7,129",
                             "127,1000", "3,7,129", "2,3,8,128", "1000,127"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(Binary("add", "f32", dims), options).status())
          << chip << " " << dims;
    }
  }
}

TEST(LoopFusionTest, NarrowTypesArePackedAndUnpacked) {
  for (const char* type : {"bf16", "s8", "u8", "s16", "u16", "s32"}) {
    for (const char* dims :
         {"1", "129", "1000", "7,129", "127,1000", "3,7,129"}) {
      EXPECT_OK(CompareKernel(Binary("add", type, dims)).status())
          << type << " " << dims;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
