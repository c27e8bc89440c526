#include "tests/tools/coverage_page.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "driver/op_coverage.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "tests/driver/opcodes/opcode_cases.h"

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
| tests | **values**: a fixture of a framework has one; **bundles**: what the TPU's bundles compute is compared with the evaluator on ragged shapes (tests/driver/opcodes); **passes**: a rewrite's text is checked |

| opcode | evaluated | costed | until | TPU | runs as | tests |
|---|---|---|---|---|---|---|
)";

std::string TextOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Names of the opcodes of a module's instructions.
absl::Status AddOpcodes(absl::string_view text, const std::string& name,
                        std::set<std::string>* opcodes) {
  ASSIGN_OR_RETURN(const auto module, hlo::ParseModule(text, name), _ << name);
  for (const hlo::Computation* c : module->computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      opcodes->insert(std::string(hlo::OpcodeName(i->opcode())));
    }
  }
  return absl::OkStatus();
}

// Of the fixtures, whose values the evaluator's tests compare.
absl::StatusOr<std::set<std::string>> WithValues(const fs::path& tests) {
  const std::string text =
      TextOf(tests / "data" / "frameworks" / "hlo_cases.txt");
  std::set<std::string> opcodes;
  for (absl::string_view part : absl::StrSplit(text, "// case ")) {
    const size_t line = part.find('\n');
    if (line == absl::string_view::npos) continue;
    RETURN_IF_ERROR(AddOpcodes(part.substr(line),
                               std::string(part.substr(0, line)), &opcodes));
  }
  return opcodes;
}

// Of the programs that FileCheck runs passes on.
absl::StatusOr<std::set<std::string>> WithPasses(const fs::path& tests) {
  std::set<std::string> opcodes;
  const fs::path folder = tests / "hlo_backend" / "passes";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hlo") continue;
    RETURN_IF_ERROR(AddOpcodes(TextOf(entry.path()),
                               entry.path().filename().string(), &opcodes));
  }
  return opcodes;
}

}  // namespace

absl::StatusOr<std::string> CoveragePage(const std::string& source_folder) {
  const fs::path tests = fs::path(source_folder) / "tests";
  ASSIGN_OR_RETURN(const std::set<std::string> values, WithValues(tests));
  ASSIGN_OR_RETURN(const std::set<std::string> passes, WithPasses(tests));
  std::set<std::string> bundles;
  for (const driver::OpcodeCase& c : driver::OpcodeCases()) {
    bundles.insert(c.opcode);
  }
  ASSIGN_OR_RETURN(const auto trials, driver::OpCoverage("v5e"));
  std::string page = kHead;
  for (const driver::OpTrial& t : trials) {
    std::vector<std::string> where;
    if (values.count(t.name) > 0) where.push_back("values");
    if (bundles.count(t.name) > 0) where.push_back("bundles");
    if (passes.count(t.name) > 0) where.push_back("passes");
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
