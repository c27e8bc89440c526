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
#include "tests/support/shared_files.h"
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
  const auto csv = testing::SharedPath("measured/kernels_open.csv");
  if (!csv.ok()) GTEST_SKIP() << csv.status();
  const auto page = ReadFile(PTXLA_SOURCE_DIR "/docs/accuracy.md");
  ASSERT_OK(page);
  const auto written = MeansOf(*page);
  const auto now = MeansOf(OutputOf(absl::StrCat(
      PTXLA_SIM, " validate --verify --markdown --kernels ", *csv)));
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

// Cells of the lines of a Markdown table, by the first `keys` of them.
std::map<std::string, std::vector<std::string>> CellsOf(const std::string& text,
                                                        int keys) {
  std::map<std::string, std::vector<std::string>> rows;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.empty() || line[0] != '|') continue;
    std::vector<std::string> cells;
    for (absl::string_view cell : absl::StrSplit(line, '|')) {
      cells.emplace_back(absl::StripAsciiWhitespace(cell));
    }
    if (static_cast<int>(cells.size()) < keys + 2) continue;
    std::string key;
    for (int k = 1; k <= keys; ++k) absl::StrAppend(&key, cells[k], " ");
    cells.erase(cells.begin(), cells.begin() + 1 + keys);
    rows[key] = std::move(cells);
  }
  return rows;
}

std::string Section(const std::string& page, const std::string& name) {
  const size_t begin = page.find(absl::StrCat("<!-- ", name, " -->"));
  const size_t end = page.find(absl::StrCat("<!-- end of ", name, " -->"));
  if (begin == std::string::npos || end == std::string::npos) return "";
  return page.substr(begin, end - begin);
}

// Percentages that differ by what others' changes may move them.
void ExpectNear(const std::string& written, const std::string& now,
                const std::string& where) {
  double a = 0, b = 0;
  if (!absl::SimpleAtod(written, &a) || !absl::SimpleAtod(now, &b)) {
    EXPECT_EQ(written, now) << where;
    return;
  }
  EXPECT_NEAR(a, b, std::max(6.0, 0.3 * std::abs(a)))
      << where << ": run tests/tools/update_accuracy";
}

TEST(AccuracyTest, ThePageSaysHowWeDifferFromTheTpuCompiler) {
  const auto tables = testing::SharedPath("measured/tpu_compiler");
  if (!tables.ok()) GTEST_SKIP() << tables.status();
  const auto page = ReadFile(PTXLA_SOURCE_DIR "/docs/accuracy.md");
  ASSERT_OK(page);
  const auto written = CellsOf(Section(*page, "compiler"), 2);
  for (const char* name : {"v6e.csv", "v6e_bundles.csv"}) {
    const auto now = CellsOf(OutputOf(absl::StrCat(PTXLA_SIM,
                                                   " validate --markdown "
                                                   "--compiler ",
                                                   *tables, "/", name)),
                             1);
    ASSERT_GT(now.size(), 2);
    for (const auto& [block, cells] : now) {
      if (block == "block " || block[0] == '-') continue;
      const std::string key = absl::StrCat(name, " ", block);
      const auto it = written.find(key);
      ASSERT_TRUE(it != written.end()) << key;
      // Of percentages: kernels, found, space, prefetch, steps.
      for (size_t c = 1; c < 7; ++c) {
        ExpectNear(it->second.at(c), cells.at(c), key);
      }
    }
  }
}

// Two cores that share a product take its windows as the TPU compiler has them.
TEST(AccuracyTest, WindowsOfTwoCoresAreThoseOfTheTpuCompiler) {
  const auto programs = testing::SharedPath("measured/programs");
  if (!programs.ok()) GTEST_SKIP() << programs.status();
  const auto now = CellsOf(
      OutputOf(absl::StrCat(
          PTXLA_SIM, " validate --markdown --compiler ", PTXLA_SOURCE_DIR,
          "/tests/data/megacore/v4_megacore.csv --programs ", *programs)),
      1);
  const auto it = now.find("A-GEMM ");
  ASSERT_TRUE(it != now.end());
  double steps, bundles;
  ASSERT_TRUE(absl::SimpleAtod(it->second.at(6), &steps));
  ASSERT_TRUE(absl::SimpleAtod(it->second.at(8), &bundles));
  EXPECT_GE(steps, 93);   // % of kernels with the same grid steps
  EXPECT_LE(bundles, 6);  // % median, of a step
}

TEST(AccuracyTest, ThePageSaysHowTheFamiliesDifferOnEveryChip) {
  const auto page = ReadFile(PTXLA_SOURCE_DIR "/docs/accuracy.md");
  ASSERT_OK(page);
  const auto written = CellsOf(Section(*page, "families"), 2);
  const std::string families = PTXLA_SOURCE_DIR "/tests/data/families";
  for (const char* chip : {"v3", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    const auto now =
        CellsOf(OutputOf(absl::StrCat(
                    PTXLA_SIM, " validate --markdown --compiler ", families,
                    "/tpu_compiler/", chip, ".csv --programs ", families)),
                2);
    const std::string key = absl::StrCat("all ", chip, " ");
    ASSERT_TRUE(now.count(key) && written.count(key)) << key;
    // Programs, then percentages: kernels, found, space, prefetch, steps, as
    // good, bundles of a step, p90, all bundles.
    for (const size_t c : {1, 2, 3, 4, 5, 6, 7, 9}) {
      ExpectNear(written.at(key).at(c), now.at(key).at(c), key);
    }
  }
}

// The blocks that run in no time stand for the others.
TEST(AccuracyTest, ThePageSaysWhatEachMechanismIsWorth) {
  const auto csv = testing::SharedPath("measured/kernels_open.csv");
  if (!csv.ok()) GTEST_SKIP() << csv.status();
  const auto page = ReadFile(PTXLA_SOURCE_DIR "/docs/accuracy.md");
  ASSERT_OK(page);
  const auto written = CellsOf(Section(*page, "mechanisms"), 1);
  ASSERT_FALSE(written.empty());
  const auto now = CellsOf(
      OutputOf(absl::StrCat(PTXLA_SIM, " validate --mechanisms --kernels ",
                            *csv, " --row E-KV --row H-ICI --row F-HBM")),
      1);
  ASSERT_GT(now.size(), 5);
  const auto& header = written.at("taken out ");
  const auto& blocks = now.at("taken out ");
  for (const auto& [mechanism, cells] : now) {
    if (mechanism[0] == '-' || mechanism == "taken out ") continue;
    const auto it = written.find(mechanism);
    ASSERT_TRUE(it != written.end()) << mechanism;
    for (size_t c = 0; c + 2 < blocks.size(); ++c) {
      const auto column = std::find(header.begin(), header.end(), blocks[c]);
      ASSERT_TRUE(column != header.end()) << blocks[c];
      const std::string& cell = it->second.at(column - header.begin());
      if (cell == "." || cells[c] == ".") continue;
      ExpectNear(cell, cells[c], mechanism + blocks[c]);
    }
  }
}

}  // namespace
}  // namespace ptxla
