// Grid steps of elementwise kernels: how many there are, and what moves with
// them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/binary_operation.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/stepping_chip.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Each array that is copied has a descriptor to make (tpu_slots.md, section 6,
// and bundles of libtpu 0.0.42.1 with one and two of three in HBM).
TEST(LoopStepsTest, TheEntryOfOneStepGoesByWhatIsCopied) {
  const auto entry = [](std::vector<int> in_vmem) -> int64_t {
    HarnessOptions options;
    options.in_vmem = std::move(in_vmem);
    auto kernel = KernelOf(BinaryOperation("add", "f32", "1024"), options);
    EXPECT_OK(kernel.status());
    if (!kernel.ok()) return -1;
    return isa::ProfileCode(kernel->entry, isa::MachineModel{}).cycles;
  };
  EXPECT_LE(entry({0, 1, 2}), 1);
  EXPECT_NEAR(entry({0, 1}), 10, 2);
  EXPECT_NEAR(entry({0}), 20, 2);
  EXPECT_NEAR(entry({}), 30, 2);
}

// Windows with several slots look several steps ahead.
TEST(LoopStepsTest, StreamsWithSeveralBlocksUnderWayEqualTheEvaluator) {
  for (const char* chip : {"v3", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec spec,
                         SteppingChip(chip, "policy.lone_operation_tiles", 8));
    for (const char* dims : {"140000", "300,500", "5,90,300"}) {
      HarnessOptions options;
      options.spec = &spec;
      ASSERT_OK_AND_ASSIGN(
          const HarnessResult result,
          CompareKernel(BinaryOperation("add", "bf16", dims), options));
      ASSERT_GE(result.kernel.NumSteps(), 12);
      for (const isa::Window& w : result.kernel.windows) {
        EXPECT_EQ(w.slots, 6);
      }
    }
  }
}

TEST(LoopStepsTest, SeveralGridStepsCoverARaggedArray) {
  for (const char* type : {"f32", "bf16"}) {
    EXPECT_OK(CompareKernel(BinaryOperation("add", type, "1001,1000")).status())
        << type;
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
          CompareKernel(BinaryOperation("add", "f16", absl::StrCat(elements)),
                        options));
      EXPECT_EQ(result.kernel.NumSteps(), tiles == 1 ? 1 : 2);
      for (const isa::Window& w : result.kernel.windows) {
        // A window of one tile has no dimensions beyond it.
        const int64_t block = w.dims.empty() ? 1 : w.dims[0].block;
        EXPECT_EQ(block, (tiles + 1) / 2) << elements;
      }
    }
  }
}

// A table that each head reads anew: its rows are planes of the others. One
// that is larger than a step moves with the grid, in whole tiles of rows or,
// where a step has fewer, in the tile that has them.
TEST(LoopStepsTest, TablesOfPlanesMoveWithTheGrid) {
  for (const char* chip : {"v5e", "v3"}) {
    // Small steps, so that a small table is larger.
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         SteppingChip(chip, "policy.fusion_tiles", 16));
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
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         SteppingChip(chip, "policy.fusion_tiles", 16));
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
