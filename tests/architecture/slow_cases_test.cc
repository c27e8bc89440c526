// tests/slow_cases.txt names cases that are there: one that is not would be
// left out of the slow tests, and nobody would miss it.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "tests/architecture/source_tree.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

// "Suite.Case" of every TEST, TEST_F and TEST_P of the tree.
std::set<std::string> CasesOfTheTree() {
  static const std::regex kCase(R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\))");
  std::set<std::string> cases;
  for (const SourceFile& file : ListSources()) {
    if (!absl::EndsWith(file.path, "_test.cc")) continue;
    std::string text;
    for (const std::string& line : file.lines)
      absl::StrAppend(&text, line, "\n");
    for (std::sregex_iterator it(text.begin(), text.end(), kCase), end;
         it != end; ++it) {
      cases.insert(absl::StrCat((*it)[1].str(), ".", (*it)[2].str()));
    }
  }
  return cases;
}

TEST(SlowCasesTest, AreCasesOfTheTree) {
  ASSERT_OK_AND_ASSIGN(
      const std::string list,
      ReadFile(std::string(PTXLA_SOURCE_DIR) + "/tests/slow_cases.txt"));
  const std::set<std::string> cases = CasesOfTheTree();
  ASSERT_GT(cases.size(), 1000u);
  std::set<std::string> seen;
  const std::vector<std::string> lines =
      absl::StrSplit(list, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    if (line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    ASSERT_EQ(words.size(), 2u) << line;
    EXPECT_TRUE(cases.count(words[1])) << "no such case: " << line;
    EXPECT_TRUE(seen.insert(line).second) << "twice: " << line;
  }
}

}  // namespace
}  // namespace ptxla::testing
