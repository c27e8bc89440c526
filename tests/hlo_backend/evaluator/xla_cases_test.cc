// What XLA's CPU backend computed for some 240 small modules
// (tests/tools/make_evaluator_cases.py), computed again.
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/npz.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr char kFolder[] = PTXLA_SOURCE_DIR "/tests/data/evaluator/";

struct Case {
  std::string name, text;
  double tolerance = 0;
};

std::vector<Case> ReadCases() {
  std::vector<Case> cases;
  const auto text = ReadFile(absl::StrCat(kFolder, "cases.txt"));
  EXPECT_OK(text.status());
  if (!text.ok()) return cases;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (absl::StartsWith(line, "// case ")) {
      const std::vector<std::string> words = absl::StrSplit(line, ' ');
      Case c;
      c.name = words[2];
      EXPECT_TRUE(absl::SimpleAtod(words[3].substr(10), &c.tolerance)) << line;
      cases.push_back(std::move(c));
    } else if (!cases.empty()) {
      absl::StrAppend(&cases.back().text, line, "\n");
    }
  }
  return cases;
}

TEST(XlaCasesTest, EveryCaseEqualsXla) {
  const auto arrays = ReadNpz(absl::StrCat(kFolder, "cases.npz"));
  ASSERT_OK(arrays.status());
  absl::flat_hash_map<std::string, const Literal*> by_name;
  for (const auto& [name, literal] : *arrays) by_name[name] = &literal;
  const std::vector<Case> cases = ReadCases();
  EXPECT_GT(cases.size(), 230u);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Literal> arguments;
    for (int k = 0;; ++k) {
      const auto it = by_name.find(absl::StrCat(c.name, "/arg", k));
      if (it == by_name.end()) break;
      arguments.push_back(*it->second);
    }
    const auto result = EvaluateText(c.text, arguments);
    EXPECT_OK(result.status());
    if (!result.ok()) continue;
    const std::vector<Literal> outs = Flatten(*result);
    for (size_t k = 0; k < outs.size(); ++k) {
      const auto it = by_name.find(absl::StrCat(c.name, "/out", k));
      ASSERT_NE(it, by_name.end());
      EXPECT_EQ(Difference(outs[k], *it->second, c.tolerance), "")
          << "output " << k;
    }
  }
}

// TPU mode computes the same functions, a little less exactly.
TEST(XlaCasesTest, TpuModeIsNearXla) {
  const auto arrays = ReadNpz(absl::StrCat(kFolder, "cases.npz"));
  ASSERT_OK(arrays.status());
  absl::flat_hash_map<std::string, const Literal*> by_name;
  for (const auto& [name, literal] : *arrays) by_name[name] = &literal;
  for (int generation : {5, 6}) {
    EvaluatorOptions options;
    options.tpu_mode = true;
    options.tpu_generation = generation;
    for (const Case& c : ReadCases()) {
      SCOPED_TRACE(absl::StrCat(c.name, " v", generation));
      // Huge arguments of sine lose their angle on the chip.
      if (c.name == "unary_sine" || c.name == "unary_cosine" ||
          c.name == "unary_tan") {
        continue;
      }
      std::vector<Literal> arguments;
      for (int k = 0;; ++k) {
        const auto it = by_name.find(absl::StrCat(c.name, "/arg", k));
        if (it == by_name.end()) break;
        arguments.push_back(*it->second);
      }
      const auto result = EvaluateText(c.text, arguments, options);
      EXPECT_OK(result.status());
      if (!result.ok()) continue;
      const std::vector<Literal> outs = Flatten(*result);
      for (size_t k = 0; k < outs.size(); ++k) {
        const Literal& want = *by_name.at(absl::StrCat(c.name, "/out", k));
        // Products of f32 see bf16 operands.
        const double tolerance =
            IsFloat(want.shape().type()) || IsComplex(want.shape().type())
                ? std::max(c.tolerance, 2e-2)
                : 0;
        EXPECT_EQ(Difference(outs[k], want, tolerance), "") << "output " << k;
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
