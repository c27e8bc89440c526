// Bits of one type read as another of any width, on bundles.
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

struct Case {
  const char *from, *to;
};

class BitcastConvertTest : public ::testing::TestWithParam<Case> {};

TEST_P(BitcastConvertTest, TheBitsAreTheEvaluators) {
  for (const char* slice : {"v3-8", "v6e-1"}) {
    const auto v = VerifyText(absl::Substitute(R"(HloModule m
ENTRY e {
  p = $0 parameter(0)
  ROOT r = $1 bitcast-convert(p)
})",
                                               GetParam().from, GetParam().to),
                              slice);
    ASSERT_TRUE(v.ok()) << v.status();
    EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Widths, BitcastConvertTest,
    ::testing::Values(
        Case{"f32[7,129]", "s32[7,129]"}, Case{"s32[7,129]", "u8[7,129,4]"},
        Case{"u32[300]", "u16[300,2]"}, Case{"bf16[17]", "u8[17,2]"},
        Case{"s32[]", "u8[4]"}, Case{"bf16[7,129]", "s16[7,129]"},
        Case{"u16[300]", "bf16[300]"}, Case{"s8[40,128]", "u8[40,128]"},
        Case{"u8[40,128]", "s8[40,128]"}, Case{"u8[7,129,4]", "f32[7,129]"},
        Case{"u16[300,2]", "s32[300]"}, Case{"s8[3,5,2]", "bf16[3,5]"}));

}  // namespace
}  // namespace ptxla::driver
