#include "driver/parity/parity_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "reports/format.h"

namespace ptxla::driver {
namespace {

std::string Part(int64_t part, int64_t whole) {
  return whole == 0
             ? "-"
             : absl::StrFormat("%.1f", 100.0 * static_cast<double>(part) /
                                           static_cast<double>(whole));
}

std::string Error(double fraction) {
  return fraction < 0 ? "-" : absl::StrFormat("%.1f", 100 * fraction);
}

// The cells of a block, in the order of kHeader.
constexpr const char* kHeader[] = {"block",
                                   "chip",
                                   "programs",
                                   "same kernels %",
                                   "kernels found %",
                                   "same space %",
                                   "same prefetch %",
                                   "same steps %",
                                   "or as good %",
                                   "step bundles",
                                   "p90",
                                   "all bundles"};

std::vector<std::string> CellsOf(const std::string& chip,
                                 const ParitySummary& s) {
  return {s.block,
          chip,
          absl::StrCat(s.programs),
          Part(s.same_kernels, s.programs),
          Part(s.matched, s.kernels),
          Part(s.same_space_bytes, s.matched_bytes),
          Part(s.same_prefetch, s.programs),
          Part(s.same_steps, s.steps_known),
          Part(s.as_good_steps, s.steps_known),
          Error(s.bundles_median),
          Error(s.bundles_p90),
          Error(s.all_bundles_median)};
}

void Differences(const ProgramParity& p, std::string* out) {
  std::string text;
  if (!p.failed.empty()) {
    absl::StrAppend(&text, "    failed: ", p.failed, "\n");
  }
  for (const std::string& k : p.only_theirs) {
    absl::StrAppend(&text, "    only there  ", k, "\n");
  }
  for (const std::string& k : p.only_ours) {
    absl::StrAppend(&text, "    only here   ", k, "\n");
  }
  if (p.failed.empty() && !p.SamePrefetch()) {
    absl::StrAppend(&text, "    prefetched  ",
                    reports::ByteSize(p.their_prefetched), " there, ",
                    reports::ByteSize(p.our_prefetched), " here\n");
  }
  for (const KernelPair& k : p.pairs) {
    for (const std::string& space : k.spaces) {
      absl::StrAppend(&text, "    operand     ", k.ours, " ", space, "\n");
    }
    if (k.StepsKnown() && !k.SameSteps()) {
      absl::StrAppendFormat(
          &text, "    grid steps  %s %d there, %d here%s\n", k.ours,
          k.their_steps, k.our_steps,
          k.cost_of_their_steps
              ? absl::StrFormat(" (theirs costs %+.1f %% by our cost)",
                                100 * *k.cost_of_their_steps)
              : " (no tiling of ours has as many)");
    }
    if (k.SameSteps() && k.their_bundles > 0) {
      absl::StrAppendFormat(&text,
                            "    bundles     %s %.0f there, %.0f here (%+.1f "
                            "%%)\n",
                            k.ours, k.their_bundles, k.our_bundles,
                            100 * (k.our_bundles / k.their_bundles - 1));
    }
  }
  if (text.empty()) return;
  absl::StrAppend(out, "  ", p.program, "\n", text);
}

}  // namespace

std::string ParityText(const Parity& parity, bool programs) {
  std::string out;
  if (programs) {
    for (const ProgramParity& p : parity.programs) Differences(p, &out);
  }
  std::vector<std::vector<std::string>> rows = {
      {std::begin(kHeader), std::end(kHeader)}};
  for (const ParitySummary& s : parity.blocks) {
    rows.push_back(CellsOf(parity.chip, s));
  }
  rows.push_back(CellsOf(parity.chip, parity.total));
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const int width = static_cast<int>(std::string(kHeader[c]).size());
      absl::StrAppend(&out, c < 2 ? reports::PadRight(row[c], width + 3)
                                  : reports::PadLeft(row[c], width + 2));
    }
    absl::StrAppend(&out, "\n");
  }
  absl::StrAppend(
      &out,
      "(there: the TPU compiler, here: ours. Spaces: of the operand bytes of "
      "kernels that both have; steps:\n of those kernels, as good: within 3 % "
      "by our own cost; bundles of entry, a step and exit that hold an "
      "instruction:\n "
      "median and p90 of |here/there - 1| where the steps are the same; all "
      "bundles: that median for all steps together)\n");
  return out;
}

std::string ParityMarkdown(const Parity& parity) {
  std::string out = "|", rule = "|";
  for (const char* name : kHeader) {
    absl::StrAppend(&out, " ", name, " |");
    absl::StrAppend(&rule, "---|");
  }
  absl::StrAppend(&out, "\n", rule, "\n");
  std::vector<ParitySummary> rows = parity.blocks;
  if (rows.size() > 1) rows.push_back(parity.total);
  for (const ParitySummary& s : rows) {
    absl::StrAppend(&out, "|");
    for (const std::string& cell : CellsOf(parity.chip, s)) {
      absl::StrAppend(&out, " ", cell, " |");
    }
    absl::StrAppend(&out, "\n");
  }
  return out;
}

std::string MemoryMarkdown(const Parity& parity) {
  std::string out =
      "| program | argument | output | alias | temporary | kernels |\n"
      "|---|---|---|---|---|---|\n";
  const auto cell = [&](int64_t theirs, int64_t ours) {
    absl::StrAppend(&out, " ", theirs);
    if (theirs != ours) absl::StrAppend(&out, " / ", ours);
    absl::StrAppend(&out, " |");
  };
  for (const ProgramParity& p : parity.programs) {
    absl::StrAppend(&out, "| ", p.program, " |");
    if (!p.failed.empty()) {
      absl::StrAppend(&out, " ", p.failed, " | | | | |\n");
      continue;
    }
    cell(p.their_memory.argument, p.our_memory.argument);
    cell(p.their_memory.output, p.our_memory.output);
    cell(p.their_memory.alias, p.our_memory.alias);
    cell(p.their_memory.temporary, p.our_memory.temporary);
    cell(p.their_kernels, p.our_kernels);
    absl::StrAppend(&out, "\n");
  }
  return out;
}

}  // namespace ptxla::driver
