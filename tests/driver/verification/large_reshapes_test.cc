// Reshapes whose planes are too large for one kernel are kernels in steps.
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

// On v3, whose VMEM is small.
void ExpectReshaped(absl::string_view from, absl::string_view to) {
  const auto v = VerifyText(absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0 parameter(0)
  b = $0 negate(a)
  r = $1 reshape(b)
  ROOT d = $1 negate(r)
})",
                                             from, to),
                            "v3-8");
  ASSERT_TRUE(v.ok()) << from << " " << to << ": " << v.status();
  EXPECT_TRUE(v->ok()) << from << " " << to << ": " << v->Line();
}

TEST(LargeReshapesTest, PatchesOfImages) {
  ExpectReshaped("bf16[2,14,14,16,16,3]", "bf16[2,196,768]");
}

TEST(LargeReshapesTest, ManyPlanesOfFewRowsAsRows) {
  ExpectReshaped("bf16[1023,4,1023]", "bf16[4092,1023]");
}

TEST(LargeReshapesTest, RowsAsFewPlanes) {
  ExpectReshaped("f32[897,5000]", "f32[3,299,5000]");
}

}  // namespace
}  // namespace ptxla::driver
