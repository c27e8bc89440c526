#include "tests/tools/coverage_page.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "driver/op_coverage.h"

namespace ptxla {
namespace {

namespace fs = std::filesystem;

constexpr char kHead[] = R"(# What becomes of every HLO opcode

Written by `coverage_page` (tests/tools), which tries a sample of each (`ptxla-sim ops NAME` shows it) on v5e-8; a test checks that the page is fresh
(`./build/tests/tools/coverage_page > docs/coverage.md` writes it anew).

| column | is |
|---|---|
| evaluated | `ptxla-opt eval` computes it |
| costed | the cost analysis has a rule |
| until | the last pass that still sees one; afterwards others stand for it |
| TPU | **kernel**: bundles; **schedule**: a collective, copy, loop or host transfer; **free**: no work; **estimate**: refused, but for `--unknown-ops=estimate`; **refused** |
| runs as | what the schedule has for the sample |
| tests | **values**: fixtures of frameworks; **bundles**: kernels against the evaluator; **passes**: rewrites against texts or values |

| opcode | evaluated | costed | until | TPU | runs as | tests |
|---|---|---|---|---|---|---|
)";

// All text below a folder.
std::string TextOf(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_regular_file(folder)) {
    files.push_back(folder);
  } else {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> CoveragePage(const std::string& source_folder) {
  const fs::path tests = fs::path(source_folder) / "tests";
  const std::string values =
      TextOf(tests / "data" / "frameworks" / "hlo_cases.txt");
  const std::string bundles = TextOf(tests / "hlo_backend" / "lowering") +
                              TextOf(tests / "data" / "families" / "small");
  const std::string passes = TextOf(tests / "hlo_backend" / "passes");
  ASSIGN_OR_RETURN(const auto trials, driver::OpCoverage("v5e"));
  std::string page = kHead;
  for (const driver::OpTrial& t : trials) {
    const std::string word = absl::StrCat(" ", t.name, "(");
    std::vector<std::string> where;
    if (absl::StrContains(values, word)) where.push_back("values");
    if (absl::StrContains(bundles, word)) where.push_back("bundles");
    if (absl::StrContains(passes, word)) where.push_back("passes");
    const bool runs = t.tpu != driver::OpSupport::kEstimate &&
                      t.tpu != driver::OpSupport::kRefused;
    absl::StrAppend(&page, "| ", t.name, " | ",
                    t.evaluate_error.empty() ? "yes" : "-", " | ",
                    t.costed ? "yes" : "-", " | ", runs ? t.expanded_by : "",
                    " | ", driver::OpSupportName(t.tpu), " | ",
                    runs ? absl::StrJoin(t.becomes, ", ") : "", " | ",
                    absl::StrJoin(where, ", "), " |\n");
  }
  return page;
}

}  // namespace ptxla
