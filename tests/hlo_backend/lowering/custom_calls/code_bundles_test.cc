// Are the bundles of a Pallas kernel those that the TPU compiler makes of it?
// The kernels are ours (tests/tools/make_pallas_cases.py), the numbers those of
// libtpu 0.0.42.1's listing: every branch and every loop's body once, and the
// loop over the grid.
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
    {"attention_causal", "v5e", 2332}, {"attention_full", "v5e", 1745},
    {"pick_rows", "v5e", 85},          {"product_512", "v5e", 4295},
    {"rms_norm", "v5e", 1041},         {"tanh_in_pieces", "v5e", 88},
    {"product_s8", "v5e", 1597},       {"product_f8", "v5e", 2460},
    {"attention_causal", "v6e", 2209}, {"attention_full", "v6e", 1391},
    {"pick_rows", "v6e", 103},         {"product_512", "v6e", 1836},
    {"rms_norm", "v6e", 859},          {"tanh_in_pieces", "v6e", 101},
    {"product_s8", "v6e", 765},        {"product_f8", "v6e", 1028},
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
    EXPECT_LT(std::abs(error), 0.35)
        << l.kernel << " on " << l.chip << ": " << body << " + " << loop;
    errors.push_back(std::abs(error));
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 0.2);
}

}  // namespace
}  // namespace ptxla::lowering
