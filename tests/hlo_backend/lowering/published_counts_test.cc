// Bundles of elementwise and reduction loops against the published schedules of
// the TPU compiler (reference tpu_slots.md sections 4 and 5).
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/kernel_overheads.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Cycles of a grid step without what lies around its body.
double BodyCycles(const std::string& hlo, const chips::ChipSpec& chip,
                  int64_t* steps) {
  HarnessOptions options;
  options.spec = &chip;
  auto kernel = KernelOf(hlo, options);
  EXPECT_OK(kernel.status());
  if (!kernel.ok()) return -1;
  const isa::KernelTiming timing =
      isa::TimeKernel(*kernel, isa::FromChipSpec(chip));
  *steps = kernel->NumSteps();
  int slots = 2;
  for (const isa::Window& w : kernel->windows) slots = std::max(slots, w.slots);
  const int64_t overhead =
      *steps > 1 ? StreamStepOverhead(
                       chip, static_cast<int>(kernel->windows.size()), slots,
                       /*flat=*/hlo.find("[16777216]") != std::string::npos)
                 : 0;
  return static_cast<double>(timing.classes[0].profile.cycles - overhead);
}

std::string Add(absl::string_view type, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  ROOT r = $0[$1] add(a, b)
})",
                          type, dims);
}
std::string Exp(absl::string_view type, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  ROOT r = $0[$1] exponential(a)
})",
                          type, dims);
}

std::string MultiplyAdd(absl::string_view type, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
f {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  c = $0[$1] parameter(2)
  m = $0[$1] multiply(a, b)
  ROOT r = $0[$1] add(m, c)
}
ENTRY e {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  c = $0[$1] parameter(2)
  ROOT r = $0[$1] fusion(a, b, c), kind=kLoop, calls=f
})",
                          type, dims);
}

struct Row {
  const char* chip;
  std::string hlo;
  double per_tile;  // bundles per 1024 elements, published
};

// 16 M elements, 128 K per step: tpu_slots.md section 5.
std::vector<Row> Rows() {
  return {{"v2", Add("f32", "16777216"), 259.0 / 128},
          {"v4", Add("f32", "16777216"), 259.0 / 128},
          {"v5e", Add("f32", "16777216"), 132.0 / 128},
          {"v6e", Add("f32", "16777216"), 102.0 / 128},
          {"v4", Add("bf16", "16777216"), 230.0 / 128},
          {"v5e", Add("bf16", "16777216"), 118.0 / 128},
          {"v6e", Add("bf16", "16777216"), 118.0 / 128},
          {"v4", Exp("f32", "16777216"), 266.0 / 128},
          {"v5e", Exp("f32", "16777216"), 138.0 / 128},
          {"v6e", Exp("f32", "16777216"), 1044.0 / 1024}};
}

TEST(PublishedCountsTest, BodiesUnrolledOverAWindowTakeThePublishedBundles) {
  for (const Row& row : Rows()) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                         chips::ChipSpec::Load(row.chip));
    int64_t steps = 0;
    const double cycles = BodyCycles(row.hlo, chip, &steps);
    const double per_tile = cycles * steps / 16384;
    EXPECT_NEAR(per_tile / row.per_tile, 1.0, 0.12)
        << row.chip << " " << per_tile << " steps " << steps << row.hlo;
  }
}

// Half-filled registers are stored under masks, of which there are 16.
TEST(PublishedCountsTest, MaskedStoresOfManyTilesRunSideBySide) {
  const Row rows[] = {
      {"v5e", MultiplyAdd("bf16", "1024,1024"), 2.82},
      {"v6e", MultiplyAdd("bf16", "1024,1024"), 2.70},
  };
  for (const Row& row : rows) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                         chips::ChipSpec::Load(row.chip));
    int64_t steps = 0;
    const double cycles = BodyCycles(row.hlo, chip, &steps);
    EXPECT_NEAR(cycles * steps / 1024 / row.per_tile, 1.0, 0.25) << row.chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
