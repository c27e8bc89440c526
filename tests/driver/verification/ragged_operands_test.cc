// Operands that products use where they lie: their last block reaches behind
// them, also where nothing else lies there.
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

// 300 columns in two steps of 256, of rows of 80 KiB: 16 MiB behind the array.
TEST(RaggedOperandsTest, TheLastBlockOfTheLastArrayMayReachBehindIt) {
  ASSERT_OK_AND_ASSIGN(const Verification v, VerifyText(R"(HloModule m
ENTRY e {
  x = bf16[8,40960] parameter(0)
  w = bf16[40960,300] parameter(1)
  ROOT d = bf16[8,300] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                                                        "v4:1x1x1"));
  EXPECT_TRUE(v.ok()) << v.Line();
}

}  // namespace
}  // namespace ptxla::driver
