#include "driver/parity/schedule_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/status.h"
#include "chips/topology.h"
#include "driver/parity/schedule_bundles.h"
#include "driver/parity/schedule_programs.h"
#include "driver/parity/schedule_table.h"
#include "driver/quantile.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"

namespace ptxla::driver {
namespace {

constexpr const char* kAll = "all";

// Of generations that were built, oldest first.
std::vector<std::string> ChipsOfTables() {
  std::vector<std::string> names = chips::ChipSpec::Names();
  const auto is_made_up = [](const std::string& name) {
    const auto chip = chips::ChipSpec::Load(name);
    return !chip.ok() || chip->generation() == 0;
  };
  names.erase(std::remove_if(names.begin(), names.end(), is_made_up),
              names.end());
  return names;
}

absl::StatusOr<ScheduleBundles> CompileAndCount(const std::string& name,
                                                const std::string& chip) {
  chips::SliceOptions options;
  options.cores_per_chip = CoresOfScheduleTable(chip);
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice(chip, options));
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module,
                   hlo::ParseModule(ScheduleProgram(name)), _ << name);
  ASSIGN_OR_RETURN(
      const hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology, {}));
  return CountScheduleBundles(compiled.program, slice.chip);
}

double Measured(const ScheduleBundles& ours, ScheduleMeasure measure,
                const std::string& name) {
  switch (measure) {
    case ScheduleMeasure::kWholeKernels:
      return ours.whole;
    case ScheduleMeasure::kBodyPerTile:
      return ours.body * 1024 /
             static_cast<double>(ScheduleProgramElements(name));
    case ScheduleMeasure::kStep:
      return ours.step;
    case ScheduleMeasure::kEntry:
      return ours.entry;
    case ScheduleMeasure::kPrologue:
      return ours.prologue;
  }
  return 0;
}

ScheduleSummary SummaryOf(const std::vector<ScheduleCount>& rows,
                          const std::string& group, const std::string& chip) {
  ScheduleSummary s;
  s.group = group;
  s.chip = chip;
  std::vector<double> errors;
  double bias = 0;
  for (const ScheduleCount& r : rows) {
    if ((group != kAll && r.group != group) ||
        (chip != kAll && r.chip != chip)) {
      continue;
    }
    ++s.rows;
    errors.push_back(r.Error());
    if (r.ours <= 0) continue;
    ++s.ran;
    bias += r.ours / r.theirs - 1;
  }
  std::sort(errors.begin(), errors.end());
  s.median = Quantile(errors, 0.5);
  s.p90 = Quantile(errors, 0.9);
  s.bias = s.ran > 0 ? bias / s.ran : 0;
  return s;
}

std::vector<ScheduleSummary> Summaries(const std::vector<ScheduleCount>& rows) {
  std::vector<std::string> groups;
  for (const ScheduleCount& r : rows) {
    if (std::find(groups.begin(), groups.end(), r.group) == groups.end()) {
      groups.push_back(r.group);
    }
  }
  std::sort(groups.begin(), groups.end());
  std::vector<ScheduleSummary> summaries;
  summaries.reserve(groups.size());
  for (const std::string& group : groups) {
    summaries.push_back(SummaryOf(rows, group, kAll));
  }
  for (const std::string& chip : ChipsOfTables()) {
    summaries.push_back(SummaryOf(rows, kAll, chip));
  }
  summaries.push_back(SummaryOf(rows, kAll, kAll));
  return summaries;
}

std::string Cell(const ScheduleCount& r) {
  const std::string theirs = r.theirs < 100 ? absl::StrFormat("%.2f", r.theirs)
                                            : absl::StrFormat("%.0f", r.theirs);
  if (r.ours <= 0) return theirs + " -";
  return absl::StrFormat("%s %+.0f%%", theirs, (r.ours / r.theirs - 1) * 100);
}

}  // namespace

double ScheduleCount::Error() const {
  return ours <= 0 ? 1 : std::abs(ours / theirs - 1);
}

absl::StatusOr<ScheduleCounts> CompareSchedules(
    const std::string& csv, const ScheduleCountOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<ScheduleTableRow> wanted,
                   ReadScheduleTable(csv, options.prefix));
  // A program is compiled once for all that is asked of it.
  std::vector<std::pair<std::string, std::string>> programs;
  programs.reserve(wanted.size());
  for (const ScheduleTableRow& w : wanted) {
    programs.emplace_back(w.program, w.chip);
  }
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  std::vector<absl::StatusOr<ScheduleBundles>> results(
      programs.size(), absl::UnknownError("not run"));
  const int n = static_cast<int>(programs.size());
  Activity comparing("scheduling the programs of the table");
  ParallelFor(n, options.threads, [&](int, int i) {
    comparing.OneMore(n, programs[i].first);
    results[i] = CompileAndCount(programs[i].first, programs[i].second);
  });
  ScheduleCounts counts;
  for (const ScheduleTableRow& w : wanted) {
    ScheduleCount row;
    row.group = w.group;
    row.name = w.program + w.part;
    row.chip = w.chip;
    row.theirs = w.theirs;
    const std::pair<std::string, std::string> key(w.program, w.chip);
    const auto it = std::lower_bound(programs.begin(), programs.end(), key);
    const absl::StatusOr<ScheduleBundles>& ours =
        results[it - programs.begin()];
    if (ours.ok()) {
      row.ours = Measured(*ours, w.measure, key.first);
    } else {
      row.refused = std::string(ours.status().message());
    }
    counts.rows.push_back(std::move(row));
  }
  counts.summaries = Summaries(counts.rows);
  return counts;
}

std::string ScheduleCountsMarkdown(const ScheduleCounts& counts, bool rows) {
  std::string out =
      "| what | chip | counts | ran | median % | p90 | bias |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ScheduleSummary& s : counts.summaries) {
    absl::StrAppendFormat(&out, "| %s | %s | %d | %d | %.1f | %.1f | %+.1f |\n",
                          s.group, s.chip, s.rows, s.ran, s.median * 100,
                          s.p90 * 100, s.bias * 100);
  }
  if (!rows) return out;
  std::map<std::pair<std::string, std::string>,
           std::map<std::string, std::string>>
      cells;
  for (const ScheduleCount& r : counts.rows) {
    cells[{r.group, r.name}][r.chip] = Cell(r);
  }
  const std::vector<std::string> chips = ChipsOfTables();
  std::string group;
  for (const auto& [key, by_chip] : cells) {
    if (key.first != group) {
      group = key.first;
      absl::StrAppend(&out, "\n| ", group);
      for (const std::string& chip : chips) absl::StrAppend(&out, " | ", chip);
      absl::StrAppend(&out, " |\n|---|---|---|---|---|---|---|---|\n");
    }
    absl::StrAppend(&out, "| ", key.second);
    for (const std::string& chip : chips) {
      const auto it = by_chip.find(chip);
      absl::StrAppend(&out, " | ", it == by_chip.end() ? "" : it->second);
    }
    absl::StrAppend(&out, " |\n");
  }
  return out;
}

}  // namespace ptxla::driver
