// Are the bundles of a Pallas kernel those that the TPU compiler makes of it?
// The kernels are ours (tests/tools/make_pallas_cases.py), the numbers those of
// libtpu 0.0.42.1's listing before it takes out the empty bundles that FIFOs
// wait for by themselves: every branch and every loop's body once, and the loop
// over the grid.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Listing {
  const char* kernel;
  const char* chip;
  double bundles;
};

constexpr Listing kListings[] = {
    {"attention_causal", "v4", 2877},
    {"attention_full", "v4", 2288},
    {"pick_rows", "v4", 108},
    {"product_512", "v4", 5436},
    {"rms_norm", "v4", 2384},
    {"tanh_in_pieces", "v4", 178},
    {"attention_causal", "v5e", 2878},
    {"attention_full", "v5e", 2101},
    {"pick_rows", "v5e", 96},
    {"product_512", "v5e", 5212},
    {"product_s8", "v5e", 1693},
    {"product_f8", "v5e", 2730},
    {"rms_norm", "v5e", 1050},
    {"tanh_in_pieces", "v5e", 88},
    {"attention_causal", "v5p", 3035},
    {"attention_full", "v5p", 2257},
    {"pick_rows", "v5p", 138},
    {"product_512", "v5p", 5368},
    {"rms_norm", "v5p", 1197},
    {"tanh_in_pieces", "v5p", 124},
    {"attention_causal", "v6e", 2948},
    {"attention_full", "v6e", 1736},
    {"pick_rows", "v6e", 119},
    {"product_512", "v6e", 1918},
    {"product_s8", "v6e", 877},
    {"product_f8", "v6e", 1153},
    {"rms_norm", "v6e", 874},
    {"tanh_in_pieces", "v6e", 104},
    {"attention_causal", "tpu7x", 2544},
    {"attention_full", "tpu7x", 1647},
    {"pick_rows", "tpu7x", 130},
    {"product_512", "tpu7x", 2055},
    {"rms_norm", "tpu7x", 836},
    {"tanh_in_pieces", "tpu7x", 93},
};

TEST(CodeBundlesTest, AreThoseOfTheTpuCompiler) {
  std::vector<double> errors;
  for (const Listing& l : kListings) {
    ASSERT_OK_AND_ASSIGN(const mosaic::PallasKernel kernel,
                         ::ptxla::testing::ReadPallasCase(l.kernel));
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                         chips::ChipSpec::Load(l.chip));
    const isa::MachineModel model = isa::FromChipSpec(chip);
    StepWalker walker(kernel, model);
    walker.SetRules(BlockRulesOf(chip));
    ASSERT_OK_AND_ASSIGN(const int64_t body, walker.CodeBundles());
    EXPECT_TRUE(walker.unknown().empty()) << *walker.unknown().begin();
    // The loop over the grid, where there is one.
    const double loop =
        kernel.grid.empty()
            ? 0
            : static_cast<double>(
                  chip.core().kernel_step.count() +
                  chip.core().kernel_step_window.count() *
                      static_cast<int64_t>(kernel.windows.size()));
    const double error = (static_cast<double>(body) + loop) / l.bundles - 1;
    RecordProperty(std::string(l.kernel) + " " + l.chip, std::to_string(error));
    // attention_causal has its maxima in one lane. The TPU compiler, which
    // runs out of registers, spreads each next to its reduction, and the XLU
    // changes its mode row by row; ours does the reductions first.
    EXPECT_LT(std::abs(error), 0.43)
        << l.kernel << " on " << l.chip << ": " << body << " + " << loop;
    errors.push_back(std::abs(error));
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.14);
}

}  // namespace
}  // namespace ptxla::lowering
