#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Integers of [-100, 100] are no NaN as f16, nor as any float of 8 bits.
TEST(NarrowBitsTest, BitsBecomeNumbersAndNumbersBits) {
  for (const char* chip :
       {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x", "unit"}) {
    for (const auto& [from, to] : {std::pair{"f16", "u16"},
                                   {"f16", "s16"},
                                   {"u16", "f16"},
                                   {"s16", "f16"},
                                   {"f8e4m3fn", "u8"},
                                   {"f8e5m2", "s8"},
                                   {"f8e4m3b11fnuz", "u8"},
                                   {"u8", "f8e4m3fn"},
                                   {"s8", "f8e5m2"},
                                   {"u8", "f8e3m4"},
                                   {"f16", "bf16"},
                                   {"f8e4m3", "f8e5m2"}}) {
      HarnessOptions options;
      options.chip = chip;
      if (from[0] != 'f') options.high = 100;
      if (from[0] == 's') options.low = -100;
      if (from[0] == 'u') options.low = 0;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[9,200] parameter(0)
  ROOT r = $1[9,200] bitcast-convert(a)
})",
                                               from, to),
                              options)
                    .status())
          << chip << " " << from << " to " << to;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
