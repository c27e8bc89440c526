#include "driver/mechanisms.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ptxla::driver {

const std::vector<Mechanism>& Mechanisms() {
  static const auto* const kMechanisms = new std::vector<Mechanism>{
      {"all on", "", {}, {}},
      {"grid step",
       "a step costs its bundles alone",
       {},
       {{"kernel.step", 0},
        {"kernel.step_window", 0},
        {"policy.step_sync", 0}}},
      {"entry, prologue",
       "kernels and programs start at once",
       {},
       {{"kernel.entry", 0},
        {"policy.entry_window", 0},
        {"kernel.prologue", 0}}},
      {"latencies",
       "every result is there after 1 cycle",
       {},
       {{"latency.*", 1}}},
      {"bank rule",
       "no VMEM banks: any two loads pair",
       {},
       {{"vmem.banks", 0}}},
      {"load, store slots",
       "4 loads and 4 stores in a bundle",
       {},
       {{"slot.vload", 4}, {"slot.vstore", 4}, {"slot.load_store", 8}}},
      {"unrolling",
       "bodies of 8 loaded registers",
       {},
       {{"policy.unroll_registers", 8}, {"policy.unroll_registers_eup", 8}}},
      {"HBM latency", "the first byte comes at once", {}, {{"hbm.latency", 0}}},
      {"HBM efficiency",
       "the pins' rate, whatever the blocks",
       {},
       {{"hbm.efficiency_read", 1},
        {"hbm.efficiency_write", 1},
        {"hbm.turnaround", 0},
        {"hbm.block_half", 0}}},
      {"DMA costs",
       "descriptors and copies on the chip cost nothing",
       {},
       {{"dma.descriptor", 0}, {"dma.on_chip_latency", 0}}},
      {"prefetch",
       "passes cross-program-prefetch and vmem-prefetch off",
       {"cross-program-prefetch", "vmem-prefetch"},
       {}},
      {"placement in VMEM",
       "passes memory-space-assignment, loop-residency, cross-program-prefetch "
       "and vmem-prefetch off",
       {"memory-space-assignment", "loop-residency", "cross-program-prefetch",
        "vmem-prefetch"},
       {}},
      {"fusion",
       "passes fusion and movement-fusion off",
       {"fusion", "movement-fusion"},
       {}},
  };
  return *kMechanisms;
}

MechanismTable MeasureMechanisms(const std::vector<MeasuredRow>& rows,
                                 const ValidationOptions& options) {
  MechanismTable table;
  for (const Mechanism& mechanism : Mechanisms()) {
    ValidationOptions off = options;
    off.disable_passes.insert(off.disable_passes.end(),
                              mechanism.disable_passes.begin(),
                              mechanism.disable_passes.end());
    off.chip_numbers.insert(off.chip_numbers.end(),
                            mechanism.chip_numbers.begin(),
                            mechanism.chip_numbers.end());
    std::map<std::string, std::pair<double, int>> errors;
    for (const ValidatedRow& row : Validate(rows, off).rows) {
      if (!row.row.runnable()) continue;
      auto& [sum, count] = errors[row.row.block];
      sum += row.Error();
      ++count;
    }
    table.lines.push_back({mechanism, {}});
    for (const auto& [block, e] : errors) {
      table.lines.back().mean[block] = e.first / e.second;
      if (table.lines.size() == 1) table.blocks.push_back(block);
    }
  }
  return table;
}

std::string MechanismMarkdown(const MechanismTable& table) {
  std::string out = "| taken out |", rule = "|---|";
  for (const std::string& block : table.blocks) {
    absl::StrAppend(&out, " ", block, " |");
    absl::StrAppend(&rule, "---|");
  }
  absl::StrAppend(&out, " how |\n", rule, "---|\n");
  for (const MechanismTable::Line& line : table.lines) {
    absl::StrAppend(&out, "| ", line.mechanism.name, " |");
    for (const std::string& block : table.blocks) {
      const double mean = line.mean.at(block);
      const double change = mean - table.lines.front().mean.at(block);
      const bool same = std::abs(change) < 0.0005;
      absl::StrAppend(&out, " ",
                      &line == &table.lines.front() || !same
                          ? absl::StrFormat("%.1f", 100 * mean)
                          : ".",
                      " |");
    }
    absl::StrAppend(&out, " ", line.mechanism.off, " |\n");
  }
  return out;
}

}  // namespace ptxla::driver
