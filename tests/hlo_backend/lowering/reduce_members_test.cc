// Sums over members and lanes of what is computed with values of each column
// that all rows share (the gradient of a bias of logits).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string Gradient(int64_t members, int64_t rows, int64_t columns) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  s = bf16[$0,$1,$2] parameter(0)
  m = f32[$0,$2] parameter(1)
  w = f32[$0,$2] parameter(2)
  i = f32[] constant(0)
  t = f32[$0,$1,$2] convert(s)
  n = f32[$0,$1,$2] broadcast(m), dimensions={0,2}
  d = f32[$0,$1,$2] subtract(t, n)
  e = f32[$0,$1,$2] exponential(d)
  v = f32[$0,$1,$2] broadcast(w), dimensions={0,2}
  p = f32[$0,$1,$2] multiply(e, v)
  ROOT r = f32[$1] reduce(p, i), dimensions={0,2}, to_apply=g
}
ENTRY e {
  s = bf16[$0,$1,$2] parameter(0)
  m = f32[$0,$2] parameter(1)
  w = f32[$0,$2] parameter(2)
  ROOT r = f32[$1] fusion(s, m, w), kind=kInput, calls=f
})",
                          members, rows, columns);
}

TEST(ReduceMembersTest, SumsEqualTheEvaluator) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    options.low = 0;  // sums of one sign: none loses digits
    for (const int64_t rows : {1, 7, 127, 129, 1000}) {
      EXPECT_OK(CompareKernel(Gradient(3, rows, 129), options).status())
          << chip << " " << rows;
    }
  }
}

TEST(ReduceMembersTest, ManyRowsShareTheValuesOfTheirColumns) {
  HarnessOptions options;
  options.chip = "v5e";
  options.in_vmem = {0, 1, 2};
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Gradient(8, 3840, 128), options));
  const isa::MachineModel machine =
      isa::FromChipSpec(*chips::ChipSpec::Load("v5e"));
  const double cycles = static_cast<double>(
      isa::TimeKernel(kernel, machine).UnstalledCycles(kernel));
  // Of 16 registers of rows a body; of eight 3.5.
  EXPECT_LT(cycles / (8 * 3840 / 8), 3.3) << kernel.note;
}

// $0 numbers of each of 512 rows and 1024 columns.
std::string Distances(int64_t numbers) {
  return absl::Substitute(R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  a = f32[$0,512] parameter(0)
  b = f32[$0,1024] parameter(1)
  i = f32[] constant(0)
  p = f32[$0,512,1024] broadcast(a), dimensions={0,1}
  q = f32[$0,512,1024] broadcast(b), dimensions={0,2}
  d = f32[$0,512,1024] subtract(p, q)
  e = f32[$0,512,1024] abs(d)
  ROOT r = f32[512,1024] reduce(e, i), dimensions={0}, to_apply=g
}
ENTRY e {
  a = f32[$0,512] parameter(0)
  b = f32[$0,1024] parameter(1)
  ROOT r = f32[512,1024] fusion(a, b), kind=kInput, calls=f
})",
                          numbers);
}

// Accumulators are loaded and stored once in a step.
TEST(ReduceMembersTest, AStepTakesMorePlanesBeforeMoreRows) {
  HarnessOptions options;
  options.chip = "v6e";
  ASSERT_OK_AND_ASSIGN(const isa::Kernel many,
                       KernelOf(Distances(32), options));
  EXPECT_EQ(many.grid, (std::vector<int64_t>{4, 4}));  // rows, planes
  ASSERT_OK_AND_ASSIGN(const isa::Kernel few, KernelOf(Distances(2), options));
  EXPECT_TRUE(few.grid.empty());
}

}  // namespace
}  // namespace ptxla::lowering
