#include "driver/parity/schedule_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/status.h"
#include "chips/topology.h"
#include "driver/measured_rows.h"
#include "driver/parity/schedule_programs.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"

namespace ptxla::driver {
namespace {

constexpr const char* kChips[] = {"v2",  "v3",  "v4",   "v5e",
                                  "v5p", "v6e", "tpu7x"};
constexpr const char* kAll = "all";

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

// What one row compares.
enum class Measure { kWholeKernels, kBodyPerTile, kStep, kEntry, kPrologue };

struct Wanted {
  ScheduleCount row;
  Measure measure = Measure::kWholeKernels;
};

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
                  const Facts& facts, std::vector<Wanted>* wanted) {
  const auto add = [&](const char* quantity, absl::string_view label,
                       Measure measure) {
    const double theirs = First(facts, quantity);
    if (theirs <= 0) return;
    wanted->push_back(
        {{"overheads", absl::StrCat(name, label), chip, theirs, 0, ""},
         measure});
  };
  if (name == "add8") {
    add("overhead TLP packed-bundles-post-ra", ", program", Measure::kPrologue);
    add("kernel bundles", ", kernel", Measure::kWholeKernels);
  }
  add("overhead bundles per grid step outside the body", ", step",
      Measure::kStep);
  if (name == "add_4m_f32") {
    add("overhead bundles outside the loop", ", entry", Measure::kEntry);
  }
}

std::vector<Wanted> WantedOf(const Table& table, const std::string& prefix) {
  std::vector<Wanted> wanted;
  for (const auto& [key, facts] : table) {
    const auto& [name, chip] = key;
    if (!absl::StartsWith(name, prefix)) continue;
    if (ScheduleProgram(name).empty()) continue;
    Wanted w;
    w.row.name = name;
    w.row.chip = chip;
    if (Has(facts, "mxu bundles of the text")) {
      const double body = First(facts, "mxu bundles per grid-loop body");
      const double text = First(facts, "mxu bundles of the text");
      const double ops = First(facts, "mxu matmul ops in the kernel text");
      const double steps =
          ops > 0 ? First(facts, "mxu matmul ops x grid steps") / ops : 1;
      w.row.theirs = Whole(text - body, body, steps);
      w.row.group = absl::StartsWith(name, "mm1024_") ? "1024^3"
                    : absl::StartsWith(name, "mms_")  ? "small products"
                                                      : "other products";
      wanted.push_back(w);
    } else if (Has(facts, "vector bundles")) {
      w.row.theirs = First(facts, "vector bundles");
      w.row.group = "elementwise";
      w.measure = Measure::kBodyPerTile;
      wanted.push_back(w);
    } else if (Has(facts, "kernel bundles outside the loop") &&
               name != "add8") {
      w.row.theirs = KernelsOf(facts, absl::StartsWith(name, "transpose")
                                          ? ScheduleProgramElements(name)
                                          : 0);
      w.row.group = "reductions, movement";
      wanted.push_back(w);
    }
    AddOverheads(name, chip, facts, &wanted);
  }
  return wanted;
}

absl::StatusOr<chips::Slice> SliceOf(const std::string& chip) {
  chips::SliceOptions options;
  // v4 was compiled as two devices per chip, v5p as one of two cores.
  options.cores_per_chip = chip == "v5p" ? 2 : 1;
  const char* box = chip == "v2" || chip == "v3"    ? ":1x1"
                    : chip == "v4" || chip == "v5p" ? ":1x1x1"
                                                    : "-1";
  return chips::ParseSlice(absl::StrCat(chip, box), options);
}

// Of all kernels of a program, without waits.
struct Ours {
  double whole = 0;  // bundles of entry, steps and exit
  double body = 0;   // of the steps alone
  double step = 0;   // beside the body, of a step of the last kernel
  double entry = 0;
  double prologue = 0;
};

// Cycles of a step's starts and waits and of the empty bundles at its end; 0:
// there are none, it is not in a loop.
int64_t FrameOf(const isa::Kernel& kernel) {
  int64_t cycles = 0;
  const isa::Block* last =
      kernel.step.empty() ? nullptr : kernel.step.back().block();
  for (int b = 0; last != nullptr && b < last->NumBundles(); ++b) {
    for (const isa::Instr& i : last->Bundle(b)) {
      if (i.op == isa::Opcode::kNop)
        cycles += isa::BundleCycles(last->Bundle(b));
    }
  }
  if (cycles == 0) return 0;
  for (const isa::Node& node : kernel.step) {
    const isa::Block* block = node.block();
    for (int b = 0; block != nullptr && b < block->NumBundles(); ++b) {
      for (const isa::Instr& i : block->Bundle(b)) {
        cycles +=
            i.op == isa::Opcode::kDmaStart || i.op == isa::Opcode::kDmaWait;
      }
    }
  }
  return cycles;
}

Ours OursOf(const isa::Program& program, const chips::ChipSpec& chip) {
  const isa::MachineModel machine = isa::FromChipSpec(chip);
  const double sync = chip.Policy("step_sync").value_or(0);
  Ours ours;
  ours.prologue = static_cast<double>(chip.core().program_prologue.count());
  for (const isa::Op& op : program.schedule) {
    const auto* call = std::get_if<isa::Call>(&op.action);
    if (call == nullptr) continue;
    const isa::Kernel& kernel = program.kernels[call->kernel];
    const isa::KernelTiming timing = isa::TimeKernel(kernel, machine);
    int copied = 0;
    for (const isa::Window& w : kernel.windows) {
      copied += kernel.args[w.arg].space == isa::Space::kHbm;
    }
    const auto windows = static_cast<double>(
        copied > 0 ? copied : static_cast<int>(kernel.windows.size()));
    const double window =
        static_cast<double>(chip.core().kernel_step_window.count());
    const double fixed = static_cast<double>(chip.core().kernel_step.count());
    const double entry =
        static_cast<double>(timing.entry.cycles + timing.exit.cycles);
    ours.entry = entry;
    // Only products wait for late flags.
    const bool product = kernel.work.mxu_flops > 0;
    int64_t frame = FrameOf(kernel);
    if (frame == 0) {
      frame = lowering::StreamStepOverhead(chip, static_cast<int>(windows), 2);
    }
    ours.step = product || copied == 0 ? fixed + window * windows
                                       : static_cast<double>(frame);
    ours.whole += entry;
    for (int core = 0; core < call->cores; ++core) {
      const auto counts = timing.StepsPerClass(kernel, core, call->cores);
      double cycles = 0, steps = 0;
      for (size_t c = 0; c < counts.size(); ++c) {
        cycles +=
            static_cast<double>(counts[c] * timing.classes[c].profile.cycles);
        steps += static_cast<double>(counts[c]);
      }
      const bool loop = steps > 1;
      const double waits = loop && copied > 0 && product ? steps * sync : 0;
      const double beside =
          !loop ? 0
                : steps * (copied > 0 ? ours.step : window * windows) + waits;
      ours.whole += cycles - waits;
      ours.body += cycles - beside;
    }
  }
  return ours;
}

absl::StatusOr<Ours> CompileAndCount(const std::string& name,
                                     const std::string& chip) {
  ASSIGN_OR_RETURN(const chips::Slice slice, SliceOf(chip));
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module,
                   hlo::ParseModule(ScheduleProgram(name)), _ << name);
  ASSIGN_OR_RETURN(
      const hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology, {}));
  return OursOf(compiled.program, slice.chip);
}

double Measured(const Ours& ours, Measure measure, const std::string& name) {
  switch (measure) {
    case Measure::kWholeKernels:
      return ours.whole;
    case Measure::kBodyPerTile:
      return ours.body * 1024 /
             static_cast<double>(ScheduleProgramElements(name));
    case Measure::kStep:
      return ours.step;
    case Measure::kEntry:
      return ours.entry;
    case Measure::kPrologue:
      return ours.prologue;
  }
  return 0;
}

double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(1.0, rank)) - 1];
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
  for (const std::string& group : groups) {
    summaries.push_back(SummaryOf(rows, group, kAll));
  }
  for (const char* chip : kChips) {
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
  ASSIGN_OR_RETURN(const Table table, ReadTable(csv));
  const std::vector<Wanted> wanted = WantedOf(table, options.prefix);
  // A program is compiled once for all that is asked of it.
  std::vector<std::pair<std::string, std::string>> programs;
  for (const Wanted& w : wanted) {
    programs.emplace_back(w.row.name.substr(0, w.row.name.find(',')),
                          w.row.chip);
  }
  std::sort(programs.begin(), programs.end());
  programs.erase(std::unique(programs.begin(), programs.end()), programs.end());
  std::vector<absl::StatusOr<Ours>> results(programs.size(),
                                            absl::UnknownError("not run"));
  ParallelFor(
      static_cast<int>(programs.size()), options.threads, [&](int, int i) {
        results[i] = CompileAndCount(programs[i].first, programs[i].second);
      });
  ScheduleCounts counts;
  for (const Wanted& w : wanted) {
    ScheduleCount row = w.row;
    const std::pair<std::string, std::string> key = {
        row.name.substr(0, row.name.find(',')), row.chip};
    const auto it = std::lower_bound(programs.begin(), programs.end(), key);
    const absl::StatusOr<Ours>& ours = results[it - programs.begin()];
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
  std::string group;
  for (const auto& [key, by_chip] : cells) {
    if (key.first != group) {
      group = key.first;
      absl::StrAppend(&out, "\n| ", group);
      for (const char* chip : kChips) absl::StrAppend(&out, " | ", chip);
      absl::StrAppend(&out, " |\n|---|---|---|---|---|---|---|---|\n");
    }
    absl::StrAppend(&out, "| ", key.second);
    for (const char* chip : kChips) {
      const auto it = by_chip.find(chip);
      absl::StrAppend(&out, " | ", it == by_chip.end() ? "" : it->second);
    }
    absl::StrAppend(&out, " |\n");
  }
  return out;
}

}  // namespace ptxla::driver
