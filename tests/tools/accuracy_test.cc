// docs/accuracy.md says what `validate` says now.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "tests/support/status_matchers.h"

namespace ptxla {
namespace {

// Mean error by "block chip timing".
std::map<std::string, double> MeansOf(const std::string& text) {
  std::map<std::string, double> means;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    std::vector<std::string> cells;
    for (absl::string_view cell : absl::StrSplit(line, '|')) {
      cells.emplace_back(absl::StripAsciiWhitespace(cell));
    }
    double mean = 0;
    if (cells.size() < 8 || !absl::SimpleAtod(cells[6], &mean)) continue;
    means[absl::StrCat(cells[1], " ", cells[2], " ", cells[3])] = mean;
  }
  return means;
}

std::string OutputOf(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    out.append(buffer.data(), n);
  }
  pclose(pipe);
  return out;
}

TEST(AccuracyTest, ThePageSaysWhatValidateSays) {
  const std::string csv =
      PTXLA_SOURCE_DIR "/../shared/measured/kernels_open.csv";
  if (!ReadFile(csv).ok()) GTEST_SKIP() << "no measurements beside the source";
  const auto page = ReadFile(PTXLA_SOURCE_DIR "/docs/accuracy.md");
  ASSERT_OK(page);
  const auto written = MeansOf(*page);
  const auto now = MeansOf(OutputOf(
      absl::StrCat(PTXLA_SIM, " validate --markdown --kernels ", csv)));
  ASSERT_FALSE(now.empty());
  for (const auto& [block, mean] : now) {
    const auto it = written.find(block);
    ASSERT_TRUE(it != written.end()) << block << " is not on the page";
    // What others change moves a block a little; more wants a new table.
    EXPECT_NEAR(it->second, mean, std::max(3.0, 0.25 * mean))
        << block
        << ": replace the table of docs/accuracy.md by what `ptxla-sim "
        << "validate --markdown` prints";
  }
}

}  // namespace
}  // namespace ptxla
