// The way that a grid step of an elementwise kernel walks over its tiles, and
// what it loads and stores of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/binary_operation.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/stepping_chip.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// A step of rows and columns walks down the columns of its tiles, whose rows
// share a bank of VMEM where a row has a multiple of 4 tiles; the same bytes in
// one dimension are walked as they lie (tpu_slots.md, section 5: 799 bundles
// and 1,761).
TEST(LoopWalkTest, LoadsOfAColumnOfTilesMeetInABank) {
  const auto bundles = [](absl::string_view dims) -> int64_t {
    auto kernel = KernelOf(BinaryOperation("add", "f32", dims));
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return 0;
    EXPECT_EQ(kernel->NumSteps(), 1);
    return isa::ProfileCode(kernel->step, isa::MachineModel{}).bundles;
  };
  const int64_t line = bundles("1048576"), plane = bundles("1024,1024");
  EXPECT_GT(plane, 2 * line);
  EXPECT_LT(plane, 2 * 1024 + 64);  // every load alone
}

// A result in VMEM may end within a register: only the last one of a step is
// stored in part, also where the step's loop divides evenly.
TEST(LoopWalkTest, OnlyTheLastRegisterOfAResultInVmemIsStoredInPart) {
  // Planes of 3 or 4 rows are half a register each.
  for (const char* dims : {"127,3,3", "127,4,8", "255,3,1", "65,4,128"}) {
    for (const char* type : {"f32", "s16"}) {
      HarnessOptions options;
      options.in_vmem = {0, 1};
      const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = s32[$1] convert(a)
})",
                                                type, dims);
      EXPECT_OK(CompareKernel(text, options)) << type << "[" << dims << "]";
    }
  }
}

// Tiles of bf16 in one column are stored under a mask, all under the same one:
// where each had its own, 16 of them and those of a quotient had no order
// within 16 masks but that in which they were written, 7 cycles a tile.
TEST(LoopWalkTest, HalvesOfRegistersInVmemAreStoredUnderOneMask) {
  HarnessOptions options;
  options.chip = "v5e";
  options.in_vmem = {0, 1, 2};
  ASSERT_OK_AND_ASSIGN(const HarnessResult result, CompareKernel(R"(HloModule m
f {
  a = f32[4,12,128,128] parameter(0)
  b = f32[4,12,128] parameter(1)
  m = f32[4,12,128,128] broadcast(b), dimensions={0,1,3}
  p = f32[4,12,128,128] divide(a, m)
  ROOT r = bf16[4,12,128,128] convert(p)
}
ENTRY e {
  a = f32[4,12,128,128] parameter(0)
  b = f32[4,12,128] parameter(1)
  ROOT r = bf16[4,12,128,128] fusion(a, b), kind=kLoop, calls=f
})",
                                                                 options));
  EXPECT_LT(result.cycles, 4 * 12 * 16 * 4);
}

// Of long columns of 16-bit operands each tile is loaded for itself, twice as
// often as registers are; of one operand, and of short columns, it is not.
TEST(LoopWalkTest, TilesOfLongColumnsOfSeveralOperandsAreLoadedOneByOne) {
  const auto loads = [](const std::string& text) -> int64_t {
    auto kernel = KernelOf(text);
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return 0;
    return isa::ProfileCode(kernel->step, isa::MachineModel{})
        .slot_uses[static_cast<int>(isa::Slot::kLoad)];
  };
  const auto alone = [](absl::string_view dims) {
    return absl::Substitute(R"(HloModule m
ENTRY e {
  a = bf16[$0] parameter(0)
  ROOT r = bf16[$0] negate(a)
})",
                            dims);
  };
  EXPECT_EQ(loads(BinaryOperation("add", "bf16", "512,512")), 2 * 256);
  EXPECT_EQ(loads(BinaryOperation("add", "bf16", "64,4096")), 2 * 128);
  EXPECT_EQ(loads(alone("512,512")), 128);
}

TEST(LoopWalkTest, RaggedColumnsOfTilesEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5p", "v5e", "v3"}) {
    for (const char* type : {"f32", "bf16", "f16", "s8"}) {
      for (const char* dims : {"100,300", "257,129", "90,640", "3,70,385"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(
            CompareKernel(BinaryOperation("add", type, dims), options).status())
            << chip << " " << type << " " << dims;
      }
    }
  }
}

// Of an array of `type`, one of bf16 and one of f32.
std::string MixedTypes(absl::string_view type, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
f {
  a = $0[$1] parameter(0)
  b = bf16[$1] parameter(1)
  c = f32[$1] parameter(2)
  x = f32[$1] convert(a)
  y = f32[$1] convert(b)
  w = f32[$1] multiply(x, y)
  s = f32[$1] add(w, c)
  n = bf16[$1] convert(s)
  ROOT t = (f32[$1], bf16[$1]) tuple(s, n)
}
ENTRY e {
  a = $0[$1] parameter(0)
  b = bf16[$1] parameter(1)
  c = f32[$1] parameter(2)
  ROOT r = (f32[$1], bf16[$1]) fusion(a, b, c), kind=kLoop, calls=f
})",
                          type, dims);
}

// One operand is walked where it lies, the other comes through a window, and
// steps of single tiles have an odd number of them.
TEST(LoopWalkTest, LongColumnsBesideAnArrayInVmemEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec spec,
                         SteppingChip(chip, "policy.lone_operation_tiles", 65));
    for (const char* dims : {"1000,384", "520,640", "3,200,384"}) {
      HarnessOptions options;
      options.spec = &spec;
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{2}}) {
        options.in_vmem = in_vmem;
        EXPECT_OK(CompareKernel(BinaryOperation("add", "bf16", dims), options)
                      .status())
            << chip << " " << dims << " " << in_vmem[0];
      }
    }
  }
}

// Mixed types: some go tile by tile beside others.
TEST(LoopWalkTest, LongColumnsOfMixedTypesEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5e"}) {
    for (const char* dims : {"300,129", "2,130,300", "1001,385"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(MixedTypes("bf16", dims), options).status())
          << chip << " " << dims;
    }
  }
}

TEST(LoopWalkTest, TilesWithinRegistersOfMixedTypesEqualTheEvaluator) {
  for (const char* chip : {"v4", "v5p"}) {
    for (const char* dims : {"2900", "4100", "24,100", "8,384", "3,8,128"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(MixedTypes("s8", dims), options).status())
          << chip << " " << dims;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
