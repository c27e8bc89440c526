// Lanes that are turned round: bundles against the evaluator.
#include "hlo_backend/lowering/movement/lane_reverse.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Reverse(absl::string_view type, absl::string_view dims, int minor) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$1] reverse(a), dimensions={$2}
})",
                          type, dims, minor);
}

class LaneReverseTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LaneReverseTest, OfAnySizesAndTypes) {
  struct Case {
    const char* dims;
    int minor;
  };
  for (const Case& c :
       {Case{"7,300", 1}, Case{"64,128", 1}, Case{"3,5,255", 2},
        Case{"2,3,33,70", 3}, Case{"1,4200", 1}, Case{"200,1000", 1}}) {
    for (const char* type : {"f32", "bf16", "s8"}) {
      HarnessOptions options;
      options.chip = GetParam();
      const std::string text = Reverse(type, c.dims, c.minor);
      const auto result = CompareKernel(text, options);
      EXPECT_OK(result.status()) << GetParam() << text;
      EXPECT_TRUE(!result.ok() ||
                  absl::StrContains(result->kernel.note, "lanes reversed"))
          << GetParam() << text << result->kernel.note;
    }
  }
}

TEST_P(LaneReverseTest, OfArraysInVmem) {
  for (const char* type : {"f32", "bf16"}) {
    HarnessOptions options;
    options.chip = GetParam();
    options.in_vmem = {0, 1};
    const std::string text = Reverse(type, "48,200", 1);
    const auto result = CompareKernel(text, options);
    EXPECT_OK(result.status()) << GetParam() << text;
    EXPECT_TRUE(!result.ok() ||
                absl::StrContains(result->kernel.note, "lanes reversed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, LaneReverseTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

// One permute for each register, and memory hides them: a last tile that is
// part full costs a selection, not the permutes of each element.
TEST(LaneReverseTest, APartOfATileCostsLittle) {
  const auto cycles = [](const char* dims) -> int64_t {
    HarnessOptions options;
    const auto kernel = KernelOf(Reverse("f32", dims, 1), options);
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return 0;
    const isa::MachineModel machine =
        isa::FromChipSpec(*chips::ChipSpec::Load(options.chip));
    return isa::TimeKernel(*kernel, machine).UnstalledCycles(*kernel);
  };
  EXPECT_LE(cycles("512,1023"), cycles("512,1024") * 5 / 4);
}

}  // namespace
}  // namespace ptxla::lowering
