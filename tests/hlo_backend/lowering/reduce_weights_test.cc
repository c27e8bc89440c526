// Sums of planes, each row weighed by a value that lies along lanes: the values
// of decode attention.
#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "base/units.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Planes of two row tiles: the XLUs put weights on all lanes without a pause
// from plane to plane.
TEST(ReduceWeightsTest, WeightsOfFewRowsGoThroughTheXlusAtTheirPace) {
  constexpr int64_t kPlanes = 256, kRows = 16;
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = 0;  // sums of one sign: none loses digits
    options.in_vmem = {0, 1};
    ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                         CompareKernel(absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  p = f32[$0,$1] parameter(0)
  v = bf16[$0,$1,128] parameter(1)
  each = f32[$0,$1,128] broadcast(p), dimensions={0,1}
  wide = f32[$0,$1,128] convert(v)
  terms = f32[$0,$1,128] multiply(each, wide)
  zero = f32[] constant(0)
  ROOT sum = f32[$1,128] reduce(terms, zero), dimensions={0}, to_apply=g
}
ENTRY e {
  p = f32[$0,$1] parameter(0)
  v = bf16[$0,$1,128] parameter(1)
  ROOT r = f32[$1,128] fusion(p, v), kind=kInput, calls=f
})",
                                                        kPlanes, kRows),
                                       options));
    const isa::MachineModel machine =
        isa::FromChipSpec(*chips::ChipSpec::Load(chip));
    const int64_t pace = CeilOfRatio<int64_t>(
        kPlanes * kRows / 8 * machine.Interval(isa::IntervalKey::kXlu),
        machine.xlus);
    EXPECT_LT(result.cycles, 5 * pace / 2) << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
