// Bitonic networks, bundle by bundle, against the evaluator's stable sort.
#include "hlo_backend/lowering/sorting/sort_kernel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr char kLess[] = "ROOT c = pred[] compare(a0, b0), direction=LT";
constexpr char kMoreTotal[] =
    "ROOT c = pred[] compare(a0, b0), direction=GT, type=TOTALORDER";
// As JAX writes it: NaN in one place, -0 as 0.
constexpr char kJax[] = R"(na = pred[] compare(a0, a0), direction=NE
  nan = f32[] constant(nan)
  zero = f32[] constant(0)
  za = pred[] compare(a0, zero), direction=EQ
  sa = f32[] select(za, zero, a0)
  ca = f32[] select(na, nan, sa)
  nb = pred[] compare(b0, b0), direction=NE
  zb = pred[] compare(b0, zero), direction=EQ
  sb = f32[] select(zb, zero, b0)
  cb = f32[] select(nb, nan, sb)
  ROOT c = pred[] compare(ca, cb), direction=LT, type=TOTALORDER)";
constexpr char kMoreOfSecond[] =
    "ROOT c = pred[] compare(b0, a0), direction=GT";
constexpr char kTwoKeys[] = R"(l0 = pred[] compare(a0, b0), direction=LT
  e0 = pred[] compare(a0, b0), direction=EQ
  l1 = pred[] compare(a1, b1), direction=GT
  both = pred[] and(e0, l1)
  ROOT c = pred[] or(l0, both))";

std::string Sort(const std::vector<std::string>& types, const std::string& dims,
                 int dimension, const std::string& comparator, bool stable) {
  std::string text = "HloModule m\ncmp {\n", operands, shapes;
  for (size_t k = 0; k < types.size(); ++k) {
    absl::StrAppend(&text, "  a", k, " = ", types[k], "[] parameter(", 2 * k,
                    ")\n  b", k, " = ", types[k], "[] parameter(", 2 * k + 1,
                    ")\n");
    absl::StrAppend(&operands, k ? ", " : "", "p", k);
    absl::StrAppend(&shapes, k ? ", " : "", types[k], "[", dims, "]");
  }
  absl::StrAppend(&text, "  ", comparator, "\n}\nENTRY e {\n");
  for (size_t k = 0; k < types.size(); ++k) {
    absl::StrAppend(&text, "  p", k, " = ", types[k], "[", dims, "] parameter(",
                    k, ")\n");
  }
  absl::StrAppend(&text, "  ROOT s = ",
                  types.size() > 1 ? absl::StrCat("(", shapes, ")") : shapes,
                  " sort(", operands, "), dimensions={", dimension, "}",
                  stable ? ", is_stable=true" : "", ", to_apply=cmp\n}\n");
  return text;
}

struct Case {
  std::vector<std::string> types;
  const char* dims;
  int dimension;
  const char* comparator;
  bool stable;
};

class SortKernelTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SortKernelTest, AnyLengthAndComparatorAsTheEvaluatorHasIt) {
  HarnessOptions options;
  options.chip = GetParam();
  options.low = -9;
  options.high = 9;
  for (const Case& c : std::vector<Case>{
           // Rows: every width of passes, padding, planes, ragged columns.
           {{"f32"}, "8,128", 0, kLess, false},
           {{"f32"}, "64,130", 0, kLess, false},
           {{"s32"}, "100,70", 0, kLess, false},
           {{"f32"}, "513,128", 0, kJax, true},
           {{"s32", "f32"}, "40,300", 0, kLess, true},
           {{"u32", "s32", "f32"}, "3,20,129", 1, kTwoKeys, true},
           {{"s32", "s32", "f32", "s32", "u32", "s32", "f32"},
            "33,128",
            0,
            kTwoKeys,
            true},
           {{"f32", "s32"}, "9,128", 0, kMoreTotal, true},
           // Keys in place of the value, beside it, and of the second side.
           {{"f32"}, "64,128", 0, kMoreTotal, false},
           {{"u32", "s32"}, "64,130", 0, kLess, true},
           {{"s32", "f32"}, "40,128", 0, kMoreOfSecond, true},
           {{"f32"}, "3,1000", 1, kJax, true},
           {{"f32", "s32"}, "2,300", 1, kJax, false},
           // Rows over lanes.
           {{"f32"}, "1024", 0, kLess, false},
           {{"s32"}, "1000", 0, kLess, true},
           {{"f32", "s32"}, "70", 0, kMoreTotal, true},
           {{"s32", "f32"}, "3,300", 1, kLess, true},
       }) {
    const std::string text =
        Sort(c.types, c.dims, c.dimension, c.comparator, c.stable);
    EXPECT_OK(CompareKernel(text, options).status()) << GetParam() << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, SortKernelTest,
                         ::testing::Values("v2", "v3", "v4", "v5e", "v5p",
                                           "v6e", "tpu7x"));

// All lanes of a register are in use.
TEST(SortKernelSizesTest, LongRowsAreSpreadOverAllLanes) {
  HarnessOptions options;
  options.chip = "v6e";
  EXPECT_OK(
      CompareKernel(Sort({"f32"}, "16384", 0, kLess, false), options).status());
  options.low = -999;
  options.high = 999;
  options.chip = "v4";
  EXPECT_OK(
      CompareKernel(Sort({"s32", "f32"}, "2,20000", 1, kLess, true), options)
          .status());
}

// Windows beside the carried arrays would be too much: with and without
// positions, of a power of two, padded, and in VMEM.
TEST(SortKernelSizesTest, LongArraysComeAndGoByTransfers) {
  ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load("v5e"));
  HarnessOptions options;
  options.low = -999;
  options.high = 999;
  for (const auto& [text, kib] : std::vector<std::pair<std::string, double>>{
           {Sort({"f32"}, "16384", 0, kLess, false), 150},
           {Sort({"f32"}, "16300", 0, kJax, true), 150},
           {Sort({"s32", "f32"}, "16384", 0, kLess, true), 220}}) {
    ASSERT_OK_AND_ASSIGN(const auto spec,
                         whole.WithValue("vmem.scoped_limit", kib * 1024));
    options.spec = &spec;
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{}, std::vector<int>{0}}) {
      options.in_vmem = in_vmem;
      const auto result = CompareKernel(text, options);
      ASSERT_OK(result.status()) << text;
      EXPECT_TRUE(result->kernel.windows.empty() || !in_vmem.empty()) << text;
    }
  }
}

TEST(SortKernelPlacesTest, ArraysInVmemAreWalkedInPlace) {
  HarnessOptions options;
  options.chip = "v5e";
  options.low = -9;
  options.high = 9;
  for (const std::vector<int>& in_vmem :
       {std::vector<int>{0, 1}, {2, 3}, {0, 1, 2, 3}}) {
    options.in_vmem = in_vmem;
    EXPECT_OK(
        CompareKernel(Sort({"s32", "f32"}, "20,300", 0, kLess, true), options)
            .status());
    EXPECT_OK(
        CompareKernel(Sort({"s32", "f32"}, "3,300", 1, kLess, true), options)
            .status());
  }
}

// Seven stages between lanes have more masks than v5e's scheduler finds
// registers for.
TEST(SortRegistersTest, ALevelOfManyLanesIsTwoBlocksWhereOneIsCrowded) {
  HarnessOptions options;
  options.chip = "v5e";
  options.low = 0;
  options.high = 0.4;  // words all 0: equal floats are equal altogether
  const std::string hlo = absl::StrReplaceAll(
      Sort({"f32", "s32"}, "1,20000", 1, kMoreTotal, true),
      {{"to_apply=cmp", "to_apply=cmp, backend_config=\"tie_operand=1\""}});
  auto result = CompareKernel(hlo, options);
  ASSERT_OK(result.status());
  EXPECT_LT(result->cycles, 100000);
}

// On v6e, without waits for memory.
double CyclesOf(const std::string& hlo) {
  const auto kernel = KernelOf(hlo);
  EXPECT_OK(kernel.status());
  const isa::MachineModel machine =
      isa::FromChipSpec(*chips::ChipSpec::Load("v6e"));
  return static_cast<double>(
      isa::TimeKernel(*kernel, machine).UnstalledCycles(*kernel));
}

// libtpu 0.0.42.1 takes 9,589 bundles for the same on v6e; with the key made
// for each compare ours were 17,200 cycles.
TEST(SortKeyTest, AKeyIsMadeOnceForEachLoad) {
  EXPECT_LT(CyclesOf(Sort({"f32"}, "64,4096", 0, kJax, /*stable=*/true)),
            13500);
}

}  // namespace
}  // namespace ptxla::lowering
