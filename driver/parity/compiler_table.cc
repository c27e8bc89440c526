#include "driver/parity/compiler_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "driver/measured_rows.h"

namespace ptxla::driver {
namespace {

using Cells = std::vector<std::string>;

// Cells of a row by the names of the header.
class Row {
 public:
  Row(const std::map<std::string, int>& columns, const Cells& cells)
      : columns_(columns), cells_(cells) {}
  std::string Text(const char* column) const {
    const auto it = columns_.find(column);
    if (it == columns_.end() || it->second >= static_cast<int>(cells_.size())) {
      return "";
    }
    return cells_[it->second];
  }
  int64_t Number(const char* column) const {
    int64_t value = 0;
    return absl::SimpleAtoi(Text(column), &value) ? value : 0;
  }

 private:
  const std::map<std::string, int>& columns_;
  const Cells& cells_;
};

// "bf16[1024,3072]".
absl::StatusOr<ArrayFacts> ParseArray(absl::string_view text) {
  ArrayFacts a;
  const size_t open = text.find('[');
  if (open == absl::string_view::npos || text.back() != ']') {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a shape"));
  }
  a.type = std::string(text.substr(0, open));
  a.elements = 1;
  for (absl::string_view dim :
       absl::StrSplit(text.substr(open + 1, text.size() - open - 2), ',',
                      absl::SkipEmpty())) {
    int64_t n = 0;
    if (!absl::SimpleAtoi(dim, &n)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is not a shape"));
    }
    a.elements *= n;
  }
  return a;
}

absl::StatusOr<KernelFacts> ParseKernel(const Row& row) {
  KernelFacts k;
  k.name = row.Text("name");
  const std::string root = row.Text("root_opcode");
  k.root = root.empty() ? row.Text("opcode") : root;
  if (k.root == "dot") k.root = "convolution";
  const std::string spaces = row.Text("operand_spaces");
  const std::vector<std::string> bytes =
      absl::StrSplit(row.Text("operand_bytes"), ' ', absl::SkipEmpty());
  size_t number = 0;
  for (absl::string_view shape :
       absl::StrSplit(row.Text("operand_shapes"), ' ', absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(ArrayFacts a, ParseArray(shape));
    if (number < spaces.size()) a.space = spaces[number];
    if (number < bytes.size() && !absl::SimpleAtoi(bytes[number], &a.bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", bytes[number], "\" is not a size"));
    }
    k.operands.push_back(std::move(a));
    ++number;
  }
  if (!row.Text("out_shape").empty()) {
    ASSIGN_OR_RETURN(ArrayFacts a, ParseArray(row.Text("out_shape")));
    const std::string space = row.Text("out_space");
    if (!space.empty()) a.space = space[0];
    k.outputs.push_back(std::move(a));
  }
  const std::string bounds = row.Text("iteration_bounds");
  if (!bounds.empty()) {
    k.steps = 1;
    for (absl::string_view bound : absl::StrSplit(bounds, 'x')) {
      int64_t n = 0;
      if (!absl::SimpleAtoi(bound, &n)) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", bounds, "\" are not iteration bounds"));
      }
      k.steps *= n;
    }
  }
  k.bundles = static_cast<double>(row.Number("bundles"));
  return k;
}

}  // namespace

bool KernelFacts::IsScalar() const {
  const auto single = [](const ArrayFacts& a) { return a.elements <= 1; };
  return std::all_of(operands.begin(), operands.end(), single) &&
         std::all_of(outputs.begin(), outputs.end(), single);
}

int64_t ProgramFacts::WorkingKernels() const {
  return std::count_if(kernels.begin(), kernels.end(), [](const auto& k) {
    return k.root != "custom-call" && k.root != "slice-start";
  });
}

absl::StatusOr<std::vector<ProgramFacts>> ReadCompilerTable(
    const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const std::vector<Cells> lines, ParseCsv(text), _ << path);
  std::map<std::string, int> columns;
  if (!lines.empty()) {
    for (size_t c = 0; c < lines[0].size(); ++c) {
      columns[lines[0][c]] = static_cast<int>(c);
    }
  }
  for (const char* name : {"program", "chip", "kind", "opcode",
                           "operand_shapes", "operand_spaces"}) {
    if (columns.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": no column \"", name, "\""));
    }
  }
  std::vector<ProgramFacts> programs;
  for (size_t l = 1; l < lines.size(); ++l) {
    const Row row(columns, lines[l]);
    const std::string program = row.Text("program");
    if (program.empty()) continue;
    if (row.Text("kind") == "program") {
      ProgramFacts facts;
      facts.program = program;
      facts.chip = row.Text("chip");
      if (!row.Text("argument_bytes").empty()) {
        facts.memory = {row.Number("argument_bytes"),
                        row.Number("output_bytes"), row.Number("alias_bytes"),
                        row.Number("temp_bytes")};
      }
      programs.push_back(std::move(facts));
      continue;
    }
    if (row.Text("kind") != "kernel") continue;
    if (programs.empty() || programs.back().program != program) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", l + 1, ": a kernel of ", program, " before its program"));
    }
    ASSIGN_OR_RETURN(KernelFacts kernel, ParseKernel(row),
                     _ << path << ":" << l + 1);
    if (row.Text("opcode") == "copy-start") {
      // Evictions back to HBM are no prefetch.
      if (!kernel.outputs.empty() && kernel.outputs[0].space != '0') {
        programs.back().prefetched_bytes += row.Number("copy_bytes");
      }
      continue;
    }
    if (!kernel.IsScalar()) programs.back().kernels.push_back(kernel);
  }
  return programs;
}

}  // namespace ptxla::driver
