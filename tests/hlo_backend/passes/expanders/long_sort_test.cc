// Is a sort in parts the sort?
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/passes/expanders/long_sort_expander.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Sorts of x[dims] and what goes with it, `y`; results `from` on are compared.
std::string Text(absl::string_view dims, int dimension, bool stable,
                 absl::string_view y) {
  return absl::Substitute(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[$0] parameter(0)
  z = s32[$0] parameter(1)
  y = s32[$0] $3
  ROOT s = (f32[$0], s32[$0]) sort(x, y), dimensions={$1}, is_stable=$2, to_apply=less
})",
                          dims, dimension, stable ? "true" : "false", y);
}

void ExpectSame(const std::string& text, int64_t length, int results) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text, "m"));
  Computation* entry = module->entry();
  std::vector<Literal> inputs;
  inputs.reserve(entry->parameter_count());
  for (int p = 0; p < entry->parameter_count(); ++p) {
    inputs.push_back(Numbers(entry->parameter(p)->shape(), 7 + p));
  }
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, inputs));
  Instruction* sort = entry->root();
  Instruction* made = SortInParts(sort, 20000, /*windows=*/true);
  ASSERT_NE(made, nullptr) << text;
  entry->Replace(sort, made);
  entry->RemoveDead();
  int64_t longest = 0;
  for (const Instruction* i : entry->PostOrder()) {
    if (i->opcode() != Opcode::kSort) continue;
    const auto d = static_cast<int>(i->attrs<SortAttrs>().dimension);
    longest = std::max(longest, i->operand(0)->shape().dim(d));
  }
  EXPECT_GT(longest, 0);
  EXPECT_LT(longest, length) << text;
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, inputs));
  for (int k = 0; k < results; ++k) {
    EXPECT_EQ(expected.elements()[k].bytes(), actual.elements()[k].bytes())
        << "result " << k << " of\n"
        << text;
  }
}

// In 20 KB not many more than 1,024 words and their positions fit.
TEST(LongSortTest, PartsOfALine) {
  for (const int length : {1100, 4096}) {
    const std::string dims = absl::StrCat(length);
    // Of equal elements any may come first.
    ExpectSame(Text(dims, 0, false, "negate(z)"), length, 1);
    ExpectSame(Text(dims, 0, true, "negate(z)"), length, 2);
    ExpectSame(Text(dims, 0, true, "iota(), iota_dimension=0"), length, 2);
  }
}

TEST(LongSortTest, PartsOfRowsAndColumns) {
  ExpectSame(Text("3,1100", 1, true, "negate(z)"), 1100, 2);
  ExpectSame(Text("2,1100,3", 1, true, "iota(), iota_dimension=1"), 1100, 2);
}

// Eight rows of 1,000 words, in and out, do not fit 40 KB, 1,024 of them do.
TEST(LongSortTest, RowsThatLieInVmemNeedNoWindows) {
  ASSERT_OK_AND_ASSIGN(auto module,
                       ParseModule(Text("8,1000", 1, false, "negate(z)"), "m"));
  Instruction* sort = module->entry()->root();
  EXPECT_EQ(SortInParts(sort, 40000, /*windows=*/false), nullptr);
  EXPECT_NE(SortInParts(sort, 40000, /*windows=*/true), nullptr);
}

TEST(LongSortTest, WhatFitsStays) {
  ASSERT_OK_AND_ASSIGN(auto module,
                       ParseModule(Text("3000", 0, true, "negate(z)"), "m"));
  EXPECT_EQ(SortInParts(module->entry()->root(), 1 << 20, true), nullptr);
}

}  // namespace
}  // namespace ptxla::hlo
