// Are the files small rooms, with the manners that the style asks for?
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {
namespace {

constexpr size_t kLongestFile = 600;

TEST(FileRulesTest, NoFileIsLongerThan600Lines) {
  for (const SourceFile& file : ListSources()) {
    EXPECT_LE(file.lines.size(), kLongestFile) << file.path;
  }
}

TEST(FileRulesTest, TheMedianFileIsShort) {
  std::vector<size_t> lengths;
  for (const SourceFile& file : ListSources()) {
    lengths.push_back(file.lines.size());
  }
  ASSERT_FALSE(lengths.empty());
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2,
                   lengths.end());
  EXPECT_LE(lengths[lengths.size() / 2], 150u);
}

TEST(FileRulesTest, AHeaderOpensWithItsManualAndItsOwnGuard) {
  for (const SourceFile& file : ListSources()) {
    if (!absl::EndsWith(file.path, ".h")) continue;
    ASSERT_FALSE(file.lines.empty()) << file.path;
    EXPECT_TRUE(absl::StartsWith(file.lines[0], "// "))
        << file.path << " does not say what it is";
    const std::string guard =
        absl::StrCat("#ifndef PTXLA_",
                     absl::AsciiStrToUpper(absl::StrReplaceAll(
                         file.path, {{"/", "_"}, {".", "_"}})),
                     "_");
    EXPECT_NE(std::find(file.lines.begin(), file.lines.end(), guard),
              file.lines.end())
        << file.path << " lacks " << guard;
  }
}

TEST(FileRulesTest, NoHeaderOpensANamespaceToAll) {
  for (const SourceFile& file : ListSources()) {
    if (!absl::EndsWith(file.path, ".h")) continue;
    for (const std::string& line : file.lines) {
      EXPECT_FALSE(absl::StartsWith(line, "using namespace"))
          << file.path << ": " << line;
    }
  }
}

TEST(FileRulesTest, EveryTestFileAssertsSomething) {
  for (const SourceFile& file : ListSources()) {
    if (!absl::EndsWith(file.path, "_test.cc")) continue;
    const bool asserts = std::any_of(
        file.lines.begin(), file.lines.end(), [](const std::string& line) {
          return absl::StrContains(line, "EXPECT") ||
                 absl::StrContains(line, "ASSERT");
        });
    EXPECT_TRUE(asserts) << file.path;
  }
}

}  // namespace
}  // namespace ptxla::testing
