// Grid steps of elementwise kernels, and the way that a step walks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "isa/timing.h"
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

// A step of rows and columns walks down the columns of its tiles, whose rows
// share a bank of VMEM where a row has a multiple of 4 tiles; the same bytes in
// one dimension are walked as they lie (tpu_slots.md, section 5: 799 bundles
// and 1,761).
TEST(LoopStepsTest, LoadsOfAColumnOfTilesMeetInABank) {
  const auto bundles = [](absl::string_view dims) -> int64_t {
    auto kernel = KernelOf(Binary("add", "f32", dims));
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
TEST(LoopStepsTest, OnlyTheLastRegisterOfAResultInVmemIsStoredInPart) {
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
TEST(LoopStepsTest, HalvesOfRegistersInVmemAreStoredUnderOneMask) {
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
TEST(LoopStepsTest, TilesOfLongColumnsOfSeveralOperandsAreLoadedOneByOne) {
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
  EXPECT_EQ(loads(Binary("add", "bf16", "512,512")), 2 * 256);
  EXPECT_EQ(loads(Binary("add", "bf16", "64,4096")), 2 * 128);
  EXPECT_EQ(loads(alone("512,512")), 128);
}

// Each array that is copied has a descriptor to make (tpu_slots.md, section 6,
// and bundles of libtpu 0.0.42.1 with one and two of three in HBM).
TEST(LoopStepsTest, TheEntryOfOneStepGoesByWhatIsCopied) {
  const auto entry = [](std::vector<int> in_vmem) -> int64_t {
    HarnessOptions options;
    options.in_vmem = std::move(in_vmem);
    auto kernel = KernelOf(Binary("add", "f32", "1024"), options);
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return -1;
    return isa::ProfileCode(kernel->entry, isa::MachineModel{}).cycles;
  };
  EXPECT_LE(entry({0, 1, 2}), 1);
  EXPECT_NEAR(entry({0, 1}), 10, 2);
  EXPECT_NEAR(entry({0}), 20, 2);
  EXPECT_NEAR(entry({}), 30, 2);
}

TEST(LoopStepsTest, RaggedColumnsOfTilesEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5p", "v5e", "v3"}) {
    for (const char* type : {"f32", "bf16", "f16", "s8"}) {
      for (const char* dims : {"100,300", "257,129", "90,640", "3,70,385"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(Binary("add", type, dims), options).status())
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
TEST(LoopStepsTest, LongColumnsBesideAnArrayInVmemEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(chips::ChipSpec spec, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(spec,
                         spec.WithValue("policy.lone_operation_tiles", 65));
    if (spec.Policy("single_step_tiles")) {
      ASSERT_OK_AND_ASSIGN(spec, spec.WithValue("policy.single_step_tiles", 0));
    }
    for (const char* dims : {"1000,384", "520,640", "3,200,384"}) {
      HarnessOptions options;
      options.spec = &spec;
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{0}, std::vector<int>{1}, std::vector<int>{2}}) {
        options.in_vmem = in_vmem;
        EXPECT_OK(CompareKernel(Binary("add", "bf16", dims), options).status())
            << chip << " " << dims << " " << in_vmem[0];
      }
    }
  }
}

// Mixed types: some go tile by tile beside others.
TEST(LoopStepsTest, LongColumnsOfMixedTypesEqualTheEvaluator) {
  for (const char* chip : {"v6e", "v5e"}) {
    for (const char* dims : {"300,129", "2,130,300", "1001,385"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(MixedTypes("bf16", dims), options).status())
          << chip << " " << dims;
    }
  }
}

// Windows with several slots look several steps ahead.
TEST(LoopStepsTest, StreamsWithSeveralBlocksUnderWayEqualTheEvaluator) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(chips::ChipSpec spec, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(spec,
                         spec.WithValue("policy.lone_operation_tiles", 8));
    if (spec.Policy("single_step_tiles")) {
      ASSERT_OK_AND_ASSIGN(spec, spec.WithValue("policy.single_step_tiles", 0));
    }
    for (const char* dims : {"140000", "300,500", "5,90,300"}) {
      HarnessOptions options;
      options.spec = &spec;
      ASSERT_OK_AND_ASSIGN(const HarnessResult result,
                           CompareKernel(Binary("add", "bf16", dims), options));
      ASSERT_GE(result.kernel.NumSteps(), 12);
      for (const isa::Window& w : result.kernel.windows) {
        EXPECT_EQ(w.slots, 6);
      }
    }
  }
}

TEST(LoopStepsTest, SeveralGridStepsCoverARaggedArray) {
  for (const char* type : {"f32", "bf16"}) {
    EXPECT_OK(CompareKernel(Binary("add", type, "1001,1000")).status()) << type;
  }
  const std::string bias = R"(HloModule m
f {
  p = f32[1000] parameter(0)
  m = f32[1001] parameter(2)
  q = f32[1001,1000] parameter(1)
  b = f32[1001,1000] broadcast(p), dimensions={1}
  c = f32[1001,1000] broadcast(m), dimensions={0}
  s = f32[1001,1000] subtract(q, c)
  ROOT t = f32[1001,1000] multiply(s, b)
}
ENTRY e {
  p = f32[1000] parameter(0)
  q = f32[1001,1000] parameter(1)
  m = f32[1001] parameter(2)
  ROOT r = f32[1001,1000] fusion(p, q, m), kind=kLoop, calls=f
})";
  EXPECT_OK(CompareKernel(bias).status());
}

// Two cores share one dimension between tiles of 1,024 values, also where two
// of them lie in one register (libtpu 0.0.42.1: windows of 1, 1, 2, 2, 3, ..
// tiles of f16[1024] to f16[8192] on v4).
TEST(LoopStepsTest, CoresShareTilesOfWhichARegisterHoldsTwo) {
  HarnessOptions options;
  options.chip = "v4";
  for (int tiles = 1; tiles <= 8; ++tiles) {
    for (const int elements : {tiles * 1024, tiles * 1024 - 100}) {
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult result,
          CompareKernel(Binary("add", "f16", absl::StrCat(elements)), options));
      EXPECT_EQ(result.kernel.NumSteps(), tiles == 1 ? 1 : 2);
      for (const isa::Window& w : result.kernel.windows) {
        // A window of one tile has no dimensions beyond it.
        const int64_t block = w.dims.empty() ? 1 : w.dims[0].block;
        EXPECT_EQ(block, (tiles + 1) / 2) << elements;
      }
    }
  }
}

TEST(LoopStepsTest, TilesWithinRegistersOfMixedTypesEqualTheEvaluator) {
  for (const char* chip : {"v4", "v5p"}) {
    for (const char* dims : {"2900", "4100", "24,100", "8,384", "3,8,128"}) {
      HarnessOptions options;
      options.chip = chip;
      EXPECT_OK(CompareKernel(MixedTypes("s8", dims), options).status())
          << chip << " " << dims;
    }
  }
}

// A table that each head reads anew: its rows are planes of the others. One
// that is larger than a step moves with the grid, in whole tiles of rows or,
// where a step has fewer, in the tile that has them.
TEST(LoopStepsTest, TablesOfPlanesMoveWithTheGrid) {
  for (const char* chip : {"v5e", "v3"}) {
    // Small steps, so that a small table is larger.
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("policy.fusion_tiles", 16));
    for (const char* type : {"f32", "bf16"}) {
      for (const char* dims :
           {"[2,229,9,64],[2,229,64]", "[1,403,3,150],[1,403,150]",
            "[2,330,70,5],[2,330,5]"}) {
        const std::vector<std::string> shapes =
            absl::StrSplit(dims, absl::ByString("],"));
        const std::string text = absl::Substitute(
            R"(HloModule m
f {
  x = $0$1] parameter(0)
  t = $0$2 parameter(1)
  u = $0$1] broadcast(t), dimensions={0,1,3}
  y = $0$1] multiply(x, u)
  s = $0[$3] parameter(2)
  v = $0$1] broadcast(s), dimensions={1}
  ROOT r = $0$1] subtract(y, v)
}
ENTRY e {
  x = $0$1] parameter(0)
  t = $0$2 parameter(1)
  s = $0[$3] parameter(2)
  ROOT r = $0$1] fusion(x, t, s), kind=kLoop, calls=f
})",
            type, shapes[0], shapes[1],
            std::vector<std::string>(absl::StrSplit(shapes[0], ','))[1]);
        HarnessOptions options;
        options.spec = &spec;
        EXPECT_OK(CompareKernel(text, options).status())
            << chip << " " << type << " " << dims;
        // Nothing lies in VMEM whole that is larger than what a step loads.
        ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
        EXPECT_GE(kernel.windows[1].slots, 2) << chip << " " << dims;
      }
    }
  }
}

// Values per row of each plane, themselves rows of a table.
TEST(LoopStepsTest, ValuesPerRowOfPlanesMoveWithTheGrid) {
  for (const char* chip : {"v5e", "v3"}) {
    ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("policy.fusion_tiles", 16));
    for (const char* type : {"f32", "bf16"}) {
      for (const char* dims : {"2,229,9", "1,403,300", "3,130,70"}) {
        const std::string text = absl::Substitute(
            R"(HloModule m
f {
  x = $0[$1,64] parameter(0)
  t = $0[$1] parameter(1)
  u = $0[$1,64] broadcast(t), dimensions={0,1,2}
  ROOT r = $0[$1,64] multiply(x, u)
}
ENTRY e {
  x = $0[$1,64] parameter(0)
  t = $0[$1] parameter(1)
  ROOT r = $0[$1,64] fusion(x, t), kind=kLoop, calls=f
})",
            type, dims);
        HarnessOptions options;
        options.spec = &spec;
        EXPECT_OK(CompareKernel(text, options).status())
            << chip << " " << type << " " << dims;
        ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(text, options));
        EXPECT_GE(kernel.windows[1].slots, 2) << chip << " " << dims;
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
