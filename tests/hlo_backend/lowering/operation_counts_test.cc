// Operations that chips have in different ways: integers, rounding, logistics.
// Values equal the evaluator's, and 1,024 words take as many vector operations
// as the TPU compiler's schedules (libtpu 0.0.42.1, 1 M elements, conversions
// of stored predicates included).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kChips[] = {"v2",  "v3",  "v4",    "v5e",
                                  "v5p", "v6e", "tpu7x", "unit"};

// `op` holds a call: "add(a, b)", "compare(a, b), direction=LT".
std::string Program(absl::string_view op, absl::string_view from,
                    absl::string_view to, absl::string_view dims) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n  a = $1[$3] parameter(0)\n"
      "  b = $1[$3] parameter(1)\n  ROOT r = $2[$3] $0\n}\n",
      op, from, to, dims);
}
std::string UnaryProgram(absl::string_view op, absl::string_view from,
                         absl::string_view to, absl::string_view dims) {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n  a = $1[$3] parameter(0)\n"
      "  ROOT r = $2[$3] $0\n}\n",
      op, from, to, dims);
}
std::string ProgramOf(const std::string& op, absl::string_view from,
                      absl::string_view to, absl::string_view dims) {
  return op.find("(a, b)") == std::string::npos
             ? UnaryProgram(op, from, to, dims)
             : Program(op, from, to, dims);
}

struct Case {
  std::string op;
  const char *from, *to;
  double range;
};

const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>{
      {"divide(a, b)", "s32", "s32", 2147483647},
      {"divide(a, b)", "s32", "s32", 3},
      {"divide(a, b)", "u32", "u32", 4294967295},
      {"divide(a, b)", "u32", "u32", 3},
      {"remainder(a, b)", "s32", "s32", 1000},
      {"remainder(a, b)", "u32", "u32", 1000},
      {"mulhi(a, b)", "s32", "s32", 2147483647},
      {"mulhi(a, b)", "u32", "u32", 4294967295},
      {"maximum(a, b)", "s32", "s32", 2147483647},
      {"minimum(a, b)", "u32", "u32", 4294967295},
      {"compare(a, b), direction=LT", "u32", "pred", 4294967295},
      {"compare(a, b), direction=GE", "u32", "pred", 2},
      {"abs(a)", "s32", "s32", 2147483647},
      {"sign(a)", "s32", "s32", 2},
      {"convert(a)", "u32", "f32", 4294967295},
      {"convert(a)", "f32", "u32", 5e9},
      {"convert(a)", "f32", "u32", 3},
      {"round-nearest-even(a)", "f32", "f32", 5},
      {"round-nearest-afz(a)", "f32", "f32", 5},
      {"round-nearest-afz(a)", "f32", "f32", 9e6},
      {"ceil(a)", "f32", "f32", 5},
      {"is-finite(a)", "f32", "pred", 5},
      {"logistic(a)", "f32", "f32", 20},
      {"logistic(a)", "bf16", "bf16", 20},
  };
  return cases;
}

TEST(OperationCountsTest, ValuesAreTheEvaluators) {
  for (const char* chip : kChips) {
    for (const Case& c : Cases()) {
      for (const char* dims : {"1", "1000", "7,129"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = c.from[0] == 'u' ? 0 : -c.range;
        options.high = c.range;
        EXPECT_OK(CompareKernel(ProgramOf(c.op, c.from, c.to, dims), options)
                      .status())
            << chip << " " << c.op << " " << c.from << " " << dims;
      }
    }
  }
}

// Per 1,024 elements, by chip.
using Counts = std::map<std::string, double>;

struct Row {
  std::string op;
  const char *from, *to;
  Counts theirs;
};

TEST(OperationCountsTest, CountsAreThoseOfTheTpuCompiler) {
  const std::vector<Row> rows = {
      {"logistic(a)",
       "f32",
       "f32",
       {{"v2", 4}, {"v3", 4}, {"v4", 4}, {"v5e", 2}, {"v6e", 2}}},
      {"logistic(a)",
       "bf16",
       "bf16",
       {{"v4", 5.5}, {"v5e", 3.5}, {"v6e", 3.5}}},
      {"compare(a, b), direction=LT", "f32", "pred", {{"v5e", 4}, {"v6e", 4}}},
      {"compare(a, b), direction=LT",
       "u32",
       "pred",
       {{"v5e", 6}, {"tpu7x", 4}}},
      {"is-finite(a)",
       "f32",
       "pred",
       {{"v4", 9}, {"v5e", 4}, {"v6e", 4}, {"tpu7x", 4}}},
      {"maximum(a, b)",
       "s32",
       "s32",
       {{"v4", 2}, {"v5e", 2}, {"v6e", 2}, {"tpu7x", 2}}},
      {"maximum(a, b)",
       "u32",
       "u32",
       {{"v4", 4}, {"v5e", 4}, {"v6e", 1}, {"tpu7x", 1}}},
      {"negate(a)", "s32", "s32", {{"v4", 1}, {"v5e", 1}, {"v6e", 1}}},
      {"sign(a)", "s32", "s32", {{"v4", 4}, {"v5e", 4}, {"v6e", 4}}},
      {"abs(a)", "s32", "s32", {{"v4", 3}}},
      {"ceil(a)", "f32", "f32", {{"v5e", 1}, {"v6e", 1}, {"tpu7x", 1}}},
      {"round-nearest-even(a)",
       "f32",
       "f32",
       {{"v5e", 8}, {"v6e", 8}, {"tpu7x", 1}}},
      {"round-nearest-afz(a)",
       "f32",
       "f32",
       {{"v4", 8}, {"v5e", 6}, {"v6e", 1}, {"tpu7x", 1}}},
      {"divide(a, b)", "u32", "u32", {{"v4", 317}, {"v5e", 317}, {"v6e", 284}}},
      {"divide(a, b)", "s32", "s32", {{"v4", 326}, {"v5e", 326}, {"v6e", 293}}},
      {"remainder(a, b)",
       "s32",
       "s32",
       {{"v4", 324}, {"v5e", 324}, {"v6e", 290}}},
  };
  constexpr double kElements = 1 << 20;
  for (const Row& row : rows) {
    for (const auto& [chip, theirs] : row.theirs) {
      HarnessOptions options;
      options.chip = chip;
      const auto kernel =
          KernelOf(ProgramOf(row.op, row.from, row.to, "1024,1024"), options);
      ASSERT_OK(kernel.status()) << chip << " " << row.op;
      ASSERT_OK_AND_ASSIGN(const auto spec, chips::ChipSpec::Load(chip));
      const auto profile =
          isa::ProfileCode(kernel->step, isa::FromChipSpec(spec));
      const double ours =
          static_cast<double>(
              profile.slot_uses[static_cast<int>(isa::Slot::kVector)]) *
          kernel->NumSteps() / (kElements / 1024);
      EXPECT_NEAR(ours, theirs, std::max(1.0, 0.1 * theirs) + 0.1)
          << chip << " " << row.op << " " << row.from;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
