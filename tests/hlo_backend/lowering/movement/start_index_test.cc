#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Case {
  const char* array;
  const char* part;
  std::vector<int> in_vmem;
};

// Starts from 2^31 on, a few below: all of them are beyond the arrays.
HarnessOptions Unsigned(const Case& c) {
  HarnessOptions options;
  options.low = 2147483000;
  options.high = 4294967295;
  options.in_vmem = c.in_vmem;
  return options;
}

// As one transfer of planes, in place in VMEM, by boxes of tiles.
TEST(StartIndexTest, SlicesFromUnsignedStartsBeyondTheArrayEndWithIt) {
  for (const Case& c : std::vector<Case>{{"9,16,128", "2,16,128", {}},
                                         {"9,16,128", "2,16,128", {0, 4}},
                                         {"9,16,128", "9,5,128", {}},
                                         {"9,40,200", "3,7,33", {}},
                                         {"9,40,200", "3,7,33", {0}}}) {
    for (const char* type : {"f32", "bf16"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  x = u32[] parameter(1)
  y = u32[] parameter(2)
  z = u32[] parameter(3)
  ROOT r = $0[$2] dynamic-slice(a, x, y, z), dynamic_slice_sizes={$2}
})",
                                               type, c.array, c.part),
                              Unsigned(c))
                    .status())
          << type << "[" << c.array << "] to " << c.part;
    }
  }
}

// Whole planes and rows by a transfer, others blended with what stays.
TEST(StartIndexTest, UpdatesAtUnsignedStartsBeyondTheArrayAreItsLastElements) {
  for (const Case& c : std::vector<Case>{{"9,16,128", "2,16,128", {}},
                                         {"9,16,128", "1,1,128", {}},
                                         {"9,40,200", "3,7,33", {}},
                                         {"9,40,200", "3,7,33", {1}}}) {
    for (const char* type : {"f32", "bf16"}) {
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  u = $0[$2] parameter(1)
  x = u32[] parameter(2)
  y = u32[] parameter(3)
  z = u32[] parameter(4)
  ROOT r = $0[$1] dynamic-update-slice(a, u, x, y, z)
})",
                                               type, c.array, c.part),
                              Unsigned(c))
                    .status())
          << type << "[" << c.array << "] by " << c.part;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
