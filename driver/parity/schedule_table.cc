#include "driver/parity/schedule_table.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/status.h"
#include "driver/measured_rows.h"
#include "driver/parity/schedule_programs.h"

namespace ptxla::driver {
namespace {

// The numbers of one program on one chip, by quantity.
using Facts = std::map<std::string, std::vector<std::string>>;
// (program, chip) -> facts
using Table = std::map<std::pair<std::string, std::string>, Facts>;

double Number(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : 0;
}
double First(const Facts& facts, const std::string& quantity) {
  const auto it = facts.find(quantity);
  return it == facts.end() ? 0 : Number(it->second[0]);
}
bool Has(const Facts& facts, const std::string& quantity) {
  return facts.count(quantity) > 0;
}

// Of "2x2x1": 4.
double StepsOf(absl::string_view text) {
  double steps = 1;
  for (absl::string_view bound : absl::StrSplit(text, 'x')) {
    const double n = Number(std::string(bound));
    steps *= n > 0 ? n : 1;
  }
  return steps;
}

// "softmax_f32 [0:reduce_max.7] bundles" belongs to softmax_f32.
void AddFact(const std::string& chip, const std::string& topic,
             const std::string& quantity, const std::string& value,
             Table* table) {
  const size_t space = quantity.find(' ');
  if (space == std::string::npos) return;
  const std::string program = quantity.substr(0, space);
  size_t rest = space + 1;
  if (quantity[rest] == '[') rest = quantity.find("] ") + 2;
  (*table)[{program, chip}][absl::StrCat(topic, " ", quantity.substr(rest))]
      .push_back(value);
}

absl::StatusOr<Table> ReadTable(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const auto lines, ParseCsv(text), _ << path);
  if (lines.empty() || lines[0].size() < 4 || lines[0][0] != "chip" ||
      lines[0][2] != "quantity") {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": wants the columns chip, topic, quantity, value"));
  }
  Table table;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() < 4) continue;
    AddFact(lines[i][0], lines[i][1], lines[i][2], lines[i][3], &table);
  }
  return table;
}

// A kernel without a loop runs its text once per step, on several cores.
double Whole(double outside, double body, double steps) {
  return body > 0 ? outside + body * steps : outside * steps;
}

// Of "32x8": 256, of an empty text 1.
double TilesOf(absl::string_view window) { return StepsOf(window); }

// `elements`: of each kernel's result, 0: unknown. Steps that cover only half
// of it are those of one of two cores.
double KernelsOf(const Facts& facts, int64_t elements) {
  double sum = 0;
  const auto& outside = facts.at("kernel bundles outside the loop");
  for (size_t i = 0; i < outside.size(); ++i) {
    const auto at = [&](const char* quantity) {
      const auto it = facts.find(quantity);
      return it != facts.end() && i < it->second.size() ? it->second[i]
                                                        : std::string();
    };
    double steps = StepsOf(at("kernel iteration bounds"));
    const std::string window = at("kernel output window");
    const double covered = steps * TilesOf(window) * 1024;
    if (elements > 0 && !window.empty() &&
        covered <= static_cast<double>(elements) / 2) {
      steps *= 2;
    }
    sum += Whole(Number(outside[i]),
                 Number(at("kernel bundles of the outer loop")), steps);
  }
  return sum;
}

void AddOverheads(const std::string& name, const std::string& chip,
                  const Facts& facts, std::vector<ScheduleTableRow>* rows) {
  const auto add = [&](const char* quantity, absl::string_view label,
                       ScheduleMeasure measure) {
    const double theirs = First(facts, quantity);
    if (theirs <= 0) return;
    rows->push_back(
        {"overheads", name, std::string(label), chip, theirs, measure});
  };
  if (name == "add8") {
    add("overhead TLP packed-bundles-post-ra", ", program",
        ScheduleMeasure::kPrologue);
    add("kernel bundles", ", kernel", ScheduleMeasure::kWholeKernels);
  }
  add("overhead bundles per grid step outside the body", ", step",
      ScheduleMeasure::kStep);
  if (name == "add_4m_f32") {
    add("overhead bundles outside the loop", ", entry",
        ScheduleMeasure::kEntry);
  }
}

std::vector<ScheduleTableRow> RowsOf(const Table& table,
                                     const std::string& prefix) {
  std::vector<ScheduleTableRow> rows;
  for (const auto& [key, facts] : table) {
    const auto& [name, chip] = key;
    if (!absl::StartsWith(name, prefix)) continue;
    if (ScheduleProgram(name).empty()) continue;
    ScheduleTableRow w;
    w.program = name;
    w.chip = chip;
    if (Has(facts, "mxu bundles of the text")) {
      const double body = First(facts, "mxu bundles per grid-loop body");
      const double text = First(facts, "mxu bundles of the text");
      const double ops = First(facts, "mxu matmul ops in the kernel text");
      const double steps =
          ops > 0 ? First(facts, "mxu matmul ops x grid steps") / ops : 1;
      w.theirs = Whole(text - body, body, steps);
      w.group = absl::StartsWith(name, "mm1024_") ? "1024^3"
                : absl::StartsWith(name, "mms_")  ? "small products"
                                                  : "other products";
      rows.push_back(w);
    } else if (Has(facts, "vector bundles")) {
      w.theirs = First(facts, "vector bundles");
      w.group = "elementwise";
      w.measure = ScheduleMeasure::kBodyPerTile;
      rows.push_back(w);
    } else if (Has(facts, "kernel bundles outside the loop") &&
               name != "add8") {
      w.theirs = KernelsOf(facts, absl::StartsWith(name, "transpose")
                                      ? ScheduleProgramElements(name)
                                      : 0);
      w.group = "reductions, movement";
      rows.push_back(w);
    }
    AddOverheads(name, chip, facts, &rows);
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<ScheduleTableRow>> ReadScheduleTable(
    const std::string& csv, const std::string& prefix) {
  ASSIGN_OR_RETURN(const Table table, ReadTable(csv));
  return RowsOf(table, prefix);
}

int CoresOfScheduleTable(const std::string& chip) {
  return chip == "v4" ? 1 : 0;
}

}  // namespace ptxla::driver
