#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "reports/explanation.h"
#include "reports/format.h"

namespace ptxla::reports {
namespace {

using record::ExplainedBlock;
using record::Explanation;

constexpr size_t kHloWidth = 150;
constexpr int kListingHead = 14, kListingTail = 6;
constexpr int kTilings = 6;
constexpr double kHbmBound = 0.9;

std::string Short(const std::string& text, size_t width) {
  return text.size() <= width ? text
                              : absl::StrCat(text.substr(0, width), " …");
}

double Microseconds(const Explanation& e, int64_t cycles) {
  return e.clock_hz() > 0 ? 1e6 * static_cast<double>(cycles) / e.clock_hz()
                          : 0;
}

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

void Head(const Explanation& e, std::string* out) {
  absl::StrAppendFormat(out, "%s on %s: %s, %s cycles at %.0f MHz", e.op(),
                        e.slice(), Duration(Picoseconds(e.time_ps())),
                        WithCommas(e.cycles()), e.clock_hz() / 1e6);
  absl::StrAppendFormat(out, "      x%s = %s of the program's %s (%s)\n",
                        WithCommas(e.executions()),
                        Duration(Picoseconds(e.total_ps())),
                        Duration(Picoseconds(e.program_ps())),
                        Percent(Share(e.total_ps(), e.program_ps())));
  const auto line = [&](const char* key, const std::string& text) {
    if (!text.empty()) absl::StrAppendFormat(out, "  %-10s %s\n", key, text);
  };
  line("asked for", e.found());
  line("hlo", Short(e.hlo(), kHloWidth));
  line("layer", e.layer());
  line("source", e.source());
  line("bound", e.bound());
  if (e.estimated()) {
    line("estimated",
         "takes time and computes nothing; the kernel's line says from what");
  }
  line("what", e.plain());
}

void Kernel(const Explanation& e, std::string* out) {
  absl::StrAppendFormat(out, "  %-10s %s", "kernel", e.note());
  if (e.calls_of_kernel() > 1) {
    absl::StrAppend(out, "; shared by ", e.calls_of_kernel(), " ops");
  }
  absl::StrAppend(out, "; ", ByteSize(e.vmem_bytes()), " of VMEM\n");
  for (const record::ExplainedArg& a : e.args()) {
    absl::StrAppendFormat(out, "  %-10s %s in %s, %s", a.name(), a.shape(),
                          a.space(), ByteSize(a.bytes()));
    for (const record::ExplainedWindow& w : e.windows()) {
      if (w.arg() != a.name()) continue;
      if (!w.copied()) {
        absl::StrAppendFormat(out, "; used where it is, %s a step",
                              ByteSize(w.block_bytes()));
        continue;
      }
      absl::StrAppendFormat(
          out, "; %s %s of %s, %s in all, %d %s", WithCommas(w.transfers()),
          w.transfers() == 1 ? "block" : "blocks", ByteSize(w.block_bytes()),
          ByteSize(w.bytes()), w.slots(), w.slots() == 1 ? "slot" : "slots");
      if (!w.moves_with().empty()) {
        absl::StrAppend(out, ", moves with ", w.moves_with());
      }
    }
    absl::StrAppend(out, "\n");
  }
}

void Losses(const Explanation& e, std::string* out) {
  absl::StrAppendFormat(out, "\n  %-16s %12s %10s %8s\n", "where it goes",
                        "cycles", "us", "share");
  int64_t total = 0;
  for (const record::Loss& l : e.losses()) {
    absl::StrAppendFormat(out, "  %-16s %12s %10.2f %8s  %s\n", l.cause(),
                          WithCommas(l.cycles()), Microseconds(e, l.cycles()),
                          Percent(Share(l.cycles(), e.cycles())), l.what());
    total += l.cycles();
  }
  absl::StrAppendFormat(out, "  %-16s %12s %10.2f %8s\n", "total",
                        WithCommas(total), Microseconds(e, total),
                        Percent(Share(total, e.cycles())));
  // Core time that waiting would take the place of.
  const double hbm = Share(e.hbm_busy_cycles(), e.cycles());
  if (hbm > kHbmBound) {
    absl::StrAppend(out, "  HBM is busy for ", Percent(hbm),
                    " of it: what is saved above becomes load_wait\n");
  }
}

void Units(const Explanation& e, std::string* out) {
  absl::StrAppendFormat(out, "\n  %-16s %4s %12s %12s\n", "unit", "ways",
                        "least cycles", "utilisation");
  for (const record::ExplainedUnit& u : e.units()) {
    absl::StrAppendFormat(out, "  %-16s %4d %12s %12s\n", u.name(), u.ways(),
                          WithCommas(u.cycles()), Percent(u.utilisation()));
  }
  if (e.hbm_bytes() > 0) {
    const double seconds = e.cycles() / e.clock_hz();
    absl::StrAppendFormat(
        out, "  %-16s %4s %12s %12s  %s at %.0f GB/s of %.0f\n", "HBM", "",
        WithCommas(e.hbm_busy_cycles()),
        Percent(Share(e.hbm_busy_cycles(), e.cycles())),
        ByteSize(e.hbm_bytes()), e.hbm_bytes() / seconds / 1e9,
        e.hbm_peak_bytes_per_s() / 1e9);
  }
}

void Tilings(const Explanation& e, std::string* out) {
  if (e.tilings().empty()) {
    absl::StrAppend(out, "\n  tiles: one way only, nothing to choose from\n");
    return;
  }
  absl::StrAppendFormat(
      out,
      "\n  tiles: %s tried, %s too large; by cost\n  %2s%12s %9s %12s %10s\n",
      WithCommas(e.tilings_considered()), WithCommas(e.tilings_too_large()), "",
      "cost cycles", "more", "step cycles", "VMEM");
  int64_t best = 0;
  for (const record::ExplainedTiling& t : e.tilings()) {
    if (t.chosen()) best = t.cost_cycles();
  }
  std::vector<const record::ExplainedTiling*> order;
  for (const record::ExplainedTiling& t : e.tilings()) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) {
                     if (a->chosen() != b->chosen()) return a->chosen();
                     if (a->refused().empty() != b->refused().empty()) {
                       return a->refused().empty();
                     }
                     return a->cost_cycles() < b->cost_cycles();
                   });
  int shown = 0;
  for (const record::ExplainedTiling* t : order) {
    if (++shown > kTilings) break;
    const char* mark = t->chosen() ? "->" : "  ";
    if (!t->refused().empty()) {
      absl::StrAppendFormat(out, "  %s%12s %9s %12s %10s  %s: %s\n", mark, "-",
                            "", "-", "-", t->what(), t->refused());
      continue;
    }
    absl::StrAppendFormat(
        out, "  %s%12s %9s %12s %10s  %s\n", mark, WithCommas(t->cost_cycles()),
        t->chosen()
            ? ""
            : absl::StrFormat("%+.1f %%",
                              100 * (Share(t->cost_cycles(), best) - 1)),
        WithCommas(t->step_cycles()), ByteSize(t->vmem_bytes()), t->what());
  }
}

// The class of grid steps that takes longest stands for the others.
int LongestClass(const Explanation& e, int* classes) {
  std::vector<int64_t> cycles;
  for (const ExplainedBlock& b : e.blocks()) {
    if (b.phase() != "step") continue;
    if (b.step_class() >= static_cast<int>(cycles.size())) {
      cycles.resize(b.step_class() + 1, 0);
    }
    cycles[b.step_class()] += b.total_cycles();
  }
  *classes = static_cast<int>(cycles.size());
  return static_cast<int>(std::max_element(cycles.begin(), cycles.end()) -
                          cycles.begin());
}

void Block(const ExplainedBlock& b, int indent, std::string* out) {
  if (b.cycles() == 0) return;
  const std::string name = absl::StrCat(
      std::string(indent, ' '), b.label(),
      b.depth() > 0 ? absl::StrCat("  x", WithCommas(b.trips())) : "");
  absl::StrAppendFormat(out, "  %-44s %9s %12s  %s\n", name,
                        WithCommas(b.cycles()), WithCommas(b.total_cycles()),
                        b.work_cycles() == 0
                            ? ""
                            : Percent(Share(b.work_cycles(), b.cycles()), 0));
}

void LoopNest(const Explanation& e, std::string* out) {
  int classes = 0;
  const int longest = LongestClass(e, &classes);
  absl::StrAppendFormat(out, "\n  %-44s %9s %12s  %s\n", "loop nest", "cycles",
                        "in all", absl::StrCat(e.main_unit(), " at work"));
  const auto phase = [&](const char* name, int indent) {
    for (const ExplainedBlock& b : e.blocks()) {
      if (b.phase() == name && b.step_class() == (indent == 0 ? 0 : longest)) {
        Block(b, indent + 2 + 2 * b.depth(), out);
      }
    }
  };
  absl::StrAppend(out, "  entry\n");
  phase("entry", 0);
  int indent = 0;
  for (int d = 0; d < e.grid_size(); ++d) {
    if (e.grid(d) == 1 && e.grid_size() > 1) continue;
    absl::StrAppendFormat(
        out, "  %sfor i%d in %d%s\n", std::string(indent, ' '), d, e.grid(d),
        e.megacore_dim() == d && e.cores() > 1 ? ", split over the cores" : "");
    indent += 2;
  }
  if (classes > 1) {
    int64_t runs = 0;
    for (const ExplainedBlock& b : e.blocks()) {
      if (b.phase() == "step" && b.step_class() == longest) {
        runs = b.phase_runs();
        break;
      }
    }
    absl::StrAppendFormat(
        out, "  %s%s of %s steps (%d kinds; those that take longest)\n",
        std::string(indent, ' '), WithCommas(runs), WithCommas(e.grid_steps()),
        classes);
  }
  phase("step", std::max(indent, 1));
  absl::StrAppend(out, "  exit\n");
  phase("exit", 0);
}

void Listing(const Explanation& e, std::string* out) {
  const ExplainedBlock* longest = nullptr;
  for (const ExplainedBlock& b : e.blocks()) {
    if (longest == nullptr || b.total_cycles() > longest->total_cycles()) {
      longest = &b;
    }
  }
  if (longest == nullptr) return;
  absl::StrAppendFormat(out, "\n  longest block: %s \"%s\", %s bundles\n",
                        longest->phase(), longest->label(),
                        WithCommas(longest->bundles()));
  std::vector<std::string> lines =
      absl::StrSplit(longest->listing(), '\n', absl::SkipEmpty());
  const int n = static_cast<int>(lines.size());
  for (int i = 0; i < n; ++i) {
    if (n > kListingHead + kListingTail + 1 && i == kListingHead) {
      const int left = n - kListingHead - kListingTail;
      absl::StrAppend(out, "    … ", left,
                      " lines more: --json or --dump-to has all\n");
      i += left - 1;
      continue;
    }
    absl::StrAppend(out, "  ", lines[i], "\n");
  }
}

}  // namespace

std::string ExplanationText(const Explanation& e) {
  std::string out;
  Head(e, &out);
  if (e.kernel().empty()) return out;
  Kernel(e, &out);
  Losses(e, &out);
  Units(e, &out);
  Tilings(e, &out);
  LoopNest(e, &out);
  Listing(e, &out);
  return out;
}

}  // namespace ptxla::reports
