#include "tools/inspect_report.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "reports/format.h"

namespace ptxla::tools {
namespace {

using driver::InspectedCost;
using driver::InspectedInstruction;
using driver::InspectedOp;
using driver::Inspection;
using driver::OpSupport;

std::string Time(double seconds) {
  if (seconds > 0 && seconds < 1e-9) return "< 1 ns";
  return seconds > 0
             ? reports::Duration(Picoseconds(std::llround(seconds * 1e12)), 4)
             : "-";
}

// "161.4 G": units that one reads, whatever the size.
std::string Count(double value) {
  if (value <= 0) return "-";
  const char* prefixes[] = {"", " K", " M", " G", " T", " P", " E"};
  int n = 0;
  while (value >= 999.95 && n < 6) {
    value /= 1000;
    ++n;
  }
  if (n == 0) return absl::StrFormat("%.0f", value);
  return reports::Significant(value, 4) + prefixes[n];
}

std::string Size(double bytes) {
  return bytes > 0 ? reports::ByteSize(std::llround(bytes)) : "-";
}

std::string Intensity(const InspectedCost& cost) {
  if (cost.bytes <= 0) return "-";
  const double value = cost.flops / cost.bytes;
  return value >= 0.005 ? reports::Significant(value, 3) : "0";
}

std::string Share(double part, double whole) {
  return whole > 0 ? reports::Percent(part / whole) : "-";
}

// The last parts of a path, which say most.
std::string Tail(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  return absl::StrCat("...", text.substr(text.size() - (width - 3)));
}

// "3 refused, 12 kernel".
std::string OnTpu(const InspectedOp& op) {
  const int64_t merged =
      op.count - op.kernels - op.scheduled - op.refused - op.free;
  std::vector<std::string> parts;
  const auto add = [&](int64_t n, const char* what) {
    if (n > 0)
      parts.push_back(n == op.count ? what : absl::StrCat(n, " ", what));
  };
  add(op.refused, "refused");
  add(op.kernels, "kernel");
  add(op.scheduled, "schedule");
  add(op.free, "free");
  add(merged, "merged");
  return absl::StrJoin(parts, ", ");
}

std::string Columns(const std::string& name, const std::string& count,
                    const InspectedCost& cost, double total) {
  return absl::StrFormat("  %-26s %7s %9s %11s %7s %9s %7s", name, count,
                         Count(cost.flops + cost.transcendentals),
                         Size(cost.bytes), Intensity(cost),
                         Time(cost.roofline_s), Share(cost.roofline_s, total));
}

std::string Operators(const Inspection& i, const chips::ChipSpec& chip) {
  std::string out = absl::StrFormat("\n  %-26s %7s %9s %11s %7s %9s %7s%s\n",
                                    absl::StrCat("operators, on ", chip.name()),
                                    "count", "FLOP", "bytes", "FLOP/B", "time",
                                    "share", i.compiled ? "  on the TPU" : "");
  const double total = i.total.roofline_s;
  const bool known = i.compiled && i.blocked.empty();
  for (const InspectedOp& op : i.rows) {
    const std::string name =
        op.target.empty() ? op.opcode : absl::StrCat("call ", op.target);
    absl::StrAppend(&out,
                    Columns(Tail(name, 26), absl::StrCat(op.count), op, total),
                    known ? absl::StrCat("  ", OnTpu(op)) : "",
                    op.unknown_cost ? "  (cost not known)" : "", "\n");
  }
  absl::StrAppend(
      &out, Columns("total", absl::StrCat(i.total.count), i.total, total),
      i.total.unknown_cost ? "  (at least: some costs are not known)" : "",
      "\n");
  return out;
}

std::string Place(const InspectedInstruction& i) {
  std::string out = Tail(i.layer, 48);
  if (!i.source.empty()) {
    absl::StrAppend(&out, out.empty() ? "" : " ", "(", i.source, ")");
  }
  return out;
}

std::string Instructions(const Inspection& i, int top) {
  const size_t shown =
      std::min(i.instructions.size(), static_cast<size_t>(top));
  if (shown == 0) return "";
  std::string out =
      absl::StrFormat("\n  %-26s %7s %9s %11s %7s %9s %7s  %-5s  %s\n",
                      "most expensive", "times", "FLOP", "bytes", "FLOP/B",
                      "time", "share", "bound", "layer (source)");
  double rest = 0;
  for (size_t n = 0; n < i.instructions.size(); ++n) {
    const InspectedInstruction& item = i.instructions[n];
    if (n >= shown) {
      rest += item.roofline_s;
      continue;
    }
    const bool refused = item.support == OpSupport::kEstimate;
    std::string line = absl::StrCat(
        Columns(Tail(item.name, 26), Count(item.times), item,
                i.total.roofline_s),
        "  ", reports::PadRight(item.bound, 5), "  ", Place(item),
        i.compiled && i.blocked.empty() && refused ? "  refused" : "");
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&out, line, "\n");
  }
  if (rest > 0) {
    absl::StrAppendFormat(
        &out, "  %-26s %7s %9s %11s %7s %9s %7s\n",
        absl::StrCat("and ", i.instructions.size() - shown, " more"), "", "",
        "", "", Time(rest), Share(rest, i.total.roofline_s));
  }
  return out;
}

std::string Header(const Inspection& i, const chips::ChipSpec& chip) {
  std::string out = absl::StrCat(i.path, ": ", i.format);
  if (i.scheduled) {
    absl::StrAppend(&out,
                    ", scheduled: its order, fusions and places are taken as "
                    "they are");
  }
  absl::StrAppend(
      &out, "\n", i.module, ": ", reports::WithCommas(i.instruction_count),
      " instructions in ", reports::WithCommas(i.computations),
      i.computations == 1 ? " computation, " : " computations, ", i.devices,
      i.devices == 1 ? " device" : " devices", "\n  ", i.parameters,
      i.parameters == 1 ? " parameter, " : " parameters, ",
      reports::ByteSize(i.parameter_bytes), "; result ",
      reports::ByteSize(i.output_bytes), "\n");
  const double per_chip = chip.devices_per_chip();
  const double peak =
      chip.PeakMatmul(chips::MatmulType::kBf16).count() / per_chip;
  const double bandwidth = chip.hbm_bandwidth_per_device().count();
  absl::StrAppend(&out, "  one device of ", chip.name(), ": bf16 peak ",
                  Count(peak), "FLOP/s, HBM ", Count(bandwidth),
                  "B/s, ridge at ", reports::Significant(peak / bandwidth, 3),
                  " FLOP/B\n");
  return out;
}

// Kernels that are refused for the same reason, in one line each.
std::string Refusals(const Inspection& i) {
  constexpr size_t kNamed = 3;
  struct Group {
    int64_t calls = 0;
    std::vector<std::string> places;
  };
  std::vector<std::pair<std::string, Group>> groups;
  for (const driver::RefusedOp& r : i.refused) {
    const std::string key = absl::StrCat(r.opcode, ": ", r.reason);
    auto it = std::find_if(groups.begin(), groups.end(),
                           [&](const auto& g) { return g.first == key; });
    if (it == groups.end()) it = groups.insert(groups.end(), {key, Group()});
    it->second.calls += r.calls;
    it->second.places.push_back(
        absl::StrCat(r.instruction.empty() ? r.name : r.instruction,
                     r.line > 0 ? absl::StrCat(" (line ", r.line, ")") : ""));
  }
  std::string out;
  for (const auto& [reason, group] : groups) {
    const size_t named = std::min(group.places.size(), kNamed);
    absl::StrAppend(
        &out, "    ", reports::PadLeft(absl::StrCat(group.calls), 5), " ",
        reason, "\n          ",
        absl::StrJoin(group.places.begin(), group.places.begin() + named, ", "),
        group.places.size() > named
            ? absl::StrCat(" and ", group.places.size() - named, " more")
            : "",
        "\n");
  }
  return out;
}

std::string Warnings(const Inspection& i) {
  std::string out = i.warnings.empty() ? "" : "\n";
  for (const std::string& warning : i.warnings) {
    absl::StrAppend(&out, "  warning: ", warning, "\n");
  }
  return out;
}

// What `run` will do, and what one can do about it.
std::string Outlook(const Inspection& i) {
  if (!i.compiled) return "";
  std::string out = "\n";
  if (!i.blocked.empty()) {
    return absl::StrCat(out, "  run stops here: ", i.blocked, "\n");
  }
  if (!i.refused.empty()) {
    int64_t calls = 0;
    for (const driver::RefusedOp& r : i.refused) calls += r.calls;
    double time = 0;
    for (const InspectedInstruction& item : i.instructions) {
      if (item.support == OpSupport::kEstimate) time += item.roofline_s;
    }
    absl::StrAppend(&out, "  not lowered: ", calls, " of ", i.kernels,
                    " kernels, ", Share(time, i.total.roofline_s),
                    " of the time; run stops at the first\n");
    out += Refusals(i);
  }
  for (const std::string& loop : i.unknown_loops) {
    absl::StrAppend(&out, "  a loop whose iterations depend on data: ", loop,
                    "; run stops at it, costs above count it once\n");
  }
  if (i.elided_constants > 0) {
    absl::StrAppend(
        &out, "  ", i.elided_constants,
        i.elided_constants == 1 ? " constant has" : " constants have",
        " no values: run takes 0, 1, 2 ... (--elided)\n");
  }
  std::string options;
  const std::string sizes =
      i.sizes.empty() ? ""
                      : absl::StrCat(" --sizes=", absl::StrJoin(i.sizes, ","));
  if (!i.refused.empty()) options += " --unknown-ops=estimate";
  if (i.unknown_loops.empty()) {
    absl::StrAppend(
        &out, "  ",
        options.empty()
            ? absl::StrCat("compiles to ", i.kernels, " kernels, ",
                           i.distinct_kernels, " of them distinct; next")
            : "next",
        ": ptxla-sim run --hlo ", i.path == "<stdin>" ? "-" : i.path,
        " --topology ", i.slice, sizes, options, "\n");
  }
  return out;
}

}  // namespace

std::string InspectionText(const Inspection& i, const chips::ChipSpec& chip,
                           int top) {
  return absl::StrCat(Header(i, chip), Operators(i, chip), Instructions(i, top),
                      Warnings(i), Outlook(i));
}

}  // namespace ptxla::tools
