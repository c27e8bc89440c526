// Products on the unit chip (one array of 128 x 128, every latency one cycle)
// next to the closed form of a weight-stationary array whose weights are double
// buffered:
//
//   T = Wl + (F - 1) max(M, Wl) + M + R + C - 2,   F = ceil(K/R) ceil(N/C)
//
// 1024^3: 65,918 cycles; 2048^3: 524,670. The simulator differs by five terms,
// each of which can be computed; docs/testing.md has them in numbers:
//
//   + the weights, copied whole into VMEM before the kernel
//   + the first block from HBM and the last block to it, which nothing hides
//   + weights loaded anew, and the control of a step, in every grid step but
//     the first: a step drains the array before the next one begins
//   + rows that blocks of equal size stream beyond M
//   - R + C - 2: on this chip an array of any size has a latency of one cycle
#include <algorithm>
#include <cmath>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

constexpr int64_t kRows = 128, kCols = 128, kWeightLoad = 128;

int64_t ClosedForm(int64_t m, int64_t k, int64_t n) {
  const int64_t folds = CeilOfRatio(k, kRows) * CeilOfRatio(n, kCols);
  return kWeightLoad + (folds - 1) * std::max(m, kWeightLoad) + m + kRows +
         kCols - 2;
}

class UnitGemm : public ::testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    const std::string text = absl::StrReplaceAll(
        R"(HloModule gemm
ENTRY main {
  a = bf16[$n,$n] parameter(0)
  b = bf16[$n,$n] parameter(1)
  ROOT c = bf16[$n,$n] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
        {{"$n", std::to_string(n_)}});
    ASSERT_OK_AND_ASSIGN(program_, CompileText(text, "unit"));
    ASSERT_EQ(program_.program.kernels.size(), 1u);
  }
  const int64_t n_ = GetParam();
  CompiledProgram program_;
};

TEST_P(UnitGemm, KernelAndTileAreTheSame) {
  EXPECT_EQ(Cycles(program_, Fidelity::kKernel),
            Cycles(program_, Fidelity::kTile));
}

TEST_P(UnitGemm, IsTheClosedFormWithinEightPercent) {
  const double form = static_cast<double>(ClosedForm(n_, n_, n_));
  EXPECT_NEAR(Cycles(program_, Fidelity::kTile) / form, 1, 0.08);
}

TEST_P(UnitGemm, IsTheClosedFormAndItsTermsWithinHalfAPercent) {
  const isa::Kernel& kernel = program_.program.kernels[0];
  const double bytes_per_cycle =
      program_.slice.chip.hbm_bandwidth_per_device().count() /
      program_.slice.chip.core().clock.frequency().count();
  double first_load = 0, last_store = 0, copied = 0;
  int64_t rows = n_;
  int windows = 0;
  for (const isa::Window& w : kernel.windows) {
    const bool input = w.direction == isa::Direction::kIn;
    int64_t bytes = w.inner_bytes;
    for (const isa::WindowDim& d : w.dims) bytes *= d.block;
    if (kernel.args[w.arg].space == isa::Space::kVmem) continue;
    (input ? first_load : last_store) +=
        static_cast<double>(bytes) / bytes_per_cycle;
    ++windows;
    // Row tiles of the result: 8 rows each.
    const isa::WindowDim& m = w.dims[1];
    if (!input) rows = 8 * m.block * kernel.grid[m.grid_dim];
  }
  for (const isa::Op& op : program_.program.schedule) {
    if (const auto* copy = std::get_if<isa::CopyStart>(&op.action)) {
      copied += static_cast<double>(copy->bytes) / bytes_per_cycle;
    }
  }
  // One slot for control: inputs asked for, windows awaited, addresses, the
  // output started.
  const double control = (windows - 1) + windows + 4 + 1;
  const double steps = static_cast<double>(kernel.NumSteps());
  const double expected =
      static_cast<double>(ClosedForm(rows, n_, n_)) + copied + first_load +
      last_store + (steps - 1) * (kWeightLoad + control) - (kRows + kCols - 2);
  const auto cycles = static_cast<double>(Cycles(program_, Fidelity::kKernel));
  EXPECT_NEAR(cycles / expected, 1, 0.005);
  RecordProperty("cycles", std::to_string(cycles));
  RecordProperty("expected", std::to_string(expected));
  RecordProperty("first_load", std::to_string(first_load));
  RecordProperty("last_store", std::to_string(last_store));
  RecordProperty("steps", std::to_string(steps));
}

INSTANTIATE_TEST_SUITE_P(Sizes, UnitGemm, ::testing::Values(1024, 2048));

// The table that the closed form comes from.
TEST(UnitGemmForm, GivesTheReferencesCycles) {
  EXPECT_EQ(ClosedForm(1024, 1024, 1024), 65918);
  EXPECT_EQ(ClosedForm(8, 128, 128), 390);
  EXPECT_EQ(ClosedForm(4096, 80, 4096), 131454);
  EXPECT_EQ(ClosedForm(1, 4096, 14336), 459007);
}

}  // namespace
}  // namespace ptxla::testing
