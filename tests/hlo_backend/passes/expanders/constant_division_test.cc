// Quotients and remainders by known numbers are exact, and no division is left.
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// All of `values` by `divisor`, before and after the pass.
void Compare(const char* op, const char* type, int64_t divisor,
             const std::vector<int64_t>& values) {
  SCOPED_TRACE(absl::Substitute("$0 $1 by $2", type, op, divisor));
  const std::string text = absl::Substitute(
      "HloModule m\nENTRY e {\n x = $0[$1] parameter(0)\n"
      " c = $0[] constant($2)\n d = $0[$1] broadcast(c), dimensions={}\n"
      " ROOT r = $0[$1] $3(x, d)\n}\n",
      type, values.size(), divisor, op);
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  Literal x(module->entry()->parameter(0)->shape());
  for (size_t i = 0; i < values.size(); ++i) x.SetInt(i, values[i]);
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, {x}));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("elementwise-expander"));
  ASSERT_OK(p.Run(module.get(), {}).status());
  for (const Instruction* i : module->entry()->PostOrder()) {
    EXPECT_NE(i->opcode(), *OpcodeFromName(op));
  }
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, {x}));
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(actual.GetInt(i), expected.GetInt(i)) << values[i];
  }
}

// Beside every multiple of the divisor that is near an end of the range, and
// words in between.
std::vector<int64_t> ValuesAround(int64_t divisor, int64_t low, int64_t high) {
  std::vector<int64_t> values = {low, low + 1, high - 1, high};
  const auto add = [&](int64_t v) {
    if (v >= low && v <= high) values.push_back(v);
  };
  for (int64_t k = -3; k <= 3; ++k) {
    for (int64_t at : {low / divisor, int64_t{0}, high / divisor}) {
      for (int64_t d = -1; d <= 1; ++d) add((at + k) * divisor + d);
    }
  }
  for (int64_t v = 1; v < high; v = v * 3 + 1) {
    add(v);
    add(-v);
  }
  return values;
}

TEST(ConstantDivisionTest, WordsAreDividedExactly) {
  for (int64_t d : {1u, 2u, 3u, 5u, 7u, 8u, 10u, 11u, 25u, 641u, 1000u, 65535u,
                    65536u, 1000003u, 0x7FFFFFFFu, 0x80000000u, 0x80000001u,
                    0xFFFFFFFEu, 0xFFFFFFFFu}) {
    for (const char* op : {"divide", "remainder"}) {
      Compare(op, "u32", d, ValuesAround(d, 0, 0xFFFFFFFF));
    }
  }
}

TEST(ConstantDivisionTest, SignedNumbersGoTowardsZero) {
  constexpr int64_t kLow = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int32_t>::max();
  for (int64_t d : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{10},
                    int64_t{64}, int64_t{1000}, kHigh, kHigh - 1}) {
    for (int64_t divisor : {d, -d}) {
      for (const char* op : {"divide", "remainder"}) {
        Compare(op, "s32", divisor, ValuesAround(divisor, kLow, kHigh));
      }
    }
  }
  Compare("divide", "s32", kLow, {kLow, kLow + 1, -1, 0, 1, kHigh});
}

TEST(ConstantDivisionTest, NarrowNumbersAreDividedAsWords) {
  for (int64_t d : {3, 8, -7}) {
    Compare("divide", "s8", d, {-128, -127, -9, -8, -1, 0, 1, 7, 8, 127});
  }
}

}  // namespace
}  // namespace ptxla::hlo
