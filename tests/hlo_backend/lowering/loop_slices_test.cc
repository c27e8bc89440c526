// Loops that read a part of an array, from a tile of it on: bundles against the
// evaluator.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// x[first] * x[second], of one array.
std::string ProductOfParts(const std::string& type, const std::string& array,
                           const std::string& part, const std::string& first,
                           const std::string& second) {
  return absl::Substitute(R"(HloModule m
f {
  x = $0[$1] parameter(0)
  a = $0[$2] slice(x), slice={$3}
  b = $0[$2] slice(x), slice={$4}
  ROOT r = $0[$2] multiply(a, b)
}
ENTRY e {
  x = $0[$1] parameter(0)
  ROOT r = $0[$2] fusion(x), kind=kLoop, calls=f
})",
                          type, array, part, first, second);
}

void ExpectEqualOnEveryChip(const std::string& text) {
  for (const char* chip : kAllChips) {
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{}, std::vector<int>{0}}) {
      HarnessOptions options;
      options.chip = chip;
      options.in_vmem = in_vmem;
      EXPECT_OK(CompareKernel(text, options).status())
          << chip << (in_vmem.empty() ? " from HBM" : " from VMEM");
    }
  }
}

TEST(LoopSlicesTest, ColumnsBeginAtAnyTile) {
  for (const char* type : {"f32", "bf16", "s8"}) {
    ExpectEqualOnEveryChip(ProductOfParts(
        type, "129,640", "129,200", "[0:129],[128:328]", "[0:129],[384:584]"));
  }
}

TEST(LoopSlicesTest, RowsBeginAtAnyTile) {
  ExpectEqualOnEveryChip(ProductOfParts("f32", "100,300", "7,300",
                                        "[8:15],[0:300]", "[88:95],[0:300]"));
  ExpectEqualOnEveryChip(ProductOfParts("s8", "100,300", "7,300",
                                        "[32:39],[0:300]", "[64:71],[0:300]"));
}

TEST(LoopSlicesTest, PlanesBeginAnywhere) {
  ExpectEqualOnEveryChip(ProductOfParts("bf16", "5,3,40,127", "2,2,17,127",
                                        "[1:3],[1:3],[16:33],[0:127]",
                                        "[3:5],[0:2],[0:17],[0:127]"));
}

TEST(LoopSlicesTest, SumsReadPartsToo) {
  for (const char* dims : {"0", "1"}) {
    ExpectEqualOnEveryChip(absl::Substitute(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
f {
  x = f32[400,384] parameter(0)
  p = f32[300,200] slice(x), slice={[8:308],[128:328]}
  q = f32[300,200] multiply(p, p)
  zero = f32[] constant(0)
  ROOT r = f32[$1] reduce(q, zero), dimensions={$0}, to_apply=add
}
ENTRY e {
  x = f32[400,384] parameter(0)
  ROOT r = f32[$1] fusion(x), kind=kInput, calls=f
})",
                                            dims, *dims == '0' ? 200 : 300));
  }
}

// A part in VMEM begins in the bank of its first tile: loads of it and of
// another array share bundles where their banks differ.
TEST(LoopSlicesTest, PartsInVmemBeginInTheBankOfTheirTile) {
  for (const char* chip : kAllChips) {
    HarnessOptions options;
    options.chip = chip;
    options.in_vmem = {0, 1};
    EXPECT_OK(CompareKernel(R"(HloModule m
f {
  x = f32[40,512] parameter(0)
  y = f32[40,128] parameter(1)
  a = f32[40,128] slice(x), slice={[0:40], [128:256]}
  b = f32[40,128] slice(x), slice={[0:40], [384:512]}
  s = f32[40,128] add(a, y)
  ROOT r = f32[40,128] multiply(s, b)
}
ENTRY e {
  x = f32[40,512] parameter(0)
  y = f32[40,128] parameter(1)
  ROOT r = f32[40,128] fusion(x, y), kind=kLoop, calls=f
})",
                            options)
                  .status())
        << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
