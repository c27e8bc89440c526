#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "driver/parity/compare.h"
#include "reports/format.h"

namespace ptxla::driver {
namespace {

// Every time in the unit of the longer total.
class Clock {
 public:
  explicit Clock(const ComparedSum& total)
      : scale_(reports::ScaleFor(
            Picoseconds(std::max(total.there_ps, total.here_ps)))) {}

  std::string Time(int64_t ps) const { return absl::StrFormat("%.3f", In(ps)); }
  std::string Cost(int64_t ps) const {
    return absl::StrFormat("%+.3f", In(ps));
  }
  const char* unit() const { return scale_.unit; }

 private:
  double In(int64_t ps) const {
    return static_cast<double>(ps) / scale_.picoseconds;
  }

  const reports::TimeScale scale_;
};

void AppendRow(const std::vector<std::string>& cells, std::string* out) {
  constexpr int kWidths[] = {8, 8, 12, 12, 12};
  std::string row = "  " + reports::PadRight(cells[0], 16);
  for (size_t c = 1; c < cells.size(); ++c) {
    row += reports::PadLeft(cells[c], kWidths[c - 1]);
  }
  absl::StrAppend(out, row, "\n");
}

void AppendSum(const ComparedSum& s, const Clock& clock, std::string* out) {
  const bool kernels = s.there != 0 || s.here != 0;
  AppendRow({s.name, kernels ? absl::StrCat(s.there) : "",
             kernels ? absl::StrCat(s.here) : "", clock.Time(s.there_ps),
             clock.Time(s.here_ps), clock.Cost(s.CostPs())},
            out);
}

// "fusion.3 (4 for 1) | fusion.7", of several "6 x fusion.3".
std::string Names(const ComparedKernels& k) {
  const auto name = [](const KernelGroup& g) {
    if (g.kernels == 0) return std::string("-");
    return absl::StrCat(
        g.kernels > 1 ? absl::StrCat(g.kernels, " x ") : "", g.name,
        g.TakenApart() ? absl::StrCat(" (by ", g.parts, " kernels)") : "");
  };
  return absl::StrCat(name(k.there), " | ", name(k.here));
}

}  // namespace

std::string ComparisonText(const ComparedCompilers& c, int top) {
  const ScheduleComparison& k = c.kernels;
  const Clock clock(k.total);
  std::string out = absl::StrCat(c.program, " on ", c.topology, "\n  there  ",
                                 c.there, "\n  here   ", c.here, "\n\n");
  if (!c.warning.empty()) absl::StrAppend(&out, "  warning: ", c.warning, "\n");
  AppendRow({"", "there", "here", absl::StrCat("there, ", clock.unit()), "here",
             "there-here"},
            &out);
  for (const ComparedSum& sum : k.sums) AppendSum(sum, clock, &out);
  AppendSum(k.total, clock, &out);
  const auto peak = [](int64_t bytes) { return reports::ByteSize(bytes); };
  absl::StrAppend(&out, "  HBM at peak: ", peak(k.there_peak_bytes), " there, ",
                  peak(k.here_peak_bytes), " here\n");
  if (k.there_taken_apart > 0) {
    absl::StrAppend(&out, "  ", k.there_taken_apart,
                    " fusions there are no kernel of ours; several kernels "
                    "stand for each: ",
                    clock.Time(k.there_taken_apart_ps), " ", clock.unit(),
                    " in all\n");
  }
  if (k.rank_correlation) {
    absl::StrAppendFormat(&out,
                          "  our times of its kernels rank as the cycles that "
                          "it estimated: %.3f (1: the same order)\n",
                          *k.rank_correlation);
  }
  const size_t shown =
      top == 0 ? k.kernels.size()
               : std::min(k.kernels.size(), static_cast<size_t>(top));
  absl::StrAppendFormat(&out, "\n  %12s%10s%10s  what, there | here\n",
                        absl::StrCat("there-here"), "there", "here");
  for (size_t n = 0; n < shown; ++n) {
    const ComparedKernels& row = k.kernels[n];
    const KernelGroup& g = row.there.kernels > 0 ? row.there : row.here;
    absl::StrAppend(&out, "  ", reports::PadLeft(clock.Cost(row.CostPs()), 12),
                    reports::PadLeft(clock.Time(row.there.time_ps), 10),
                    reports::PadLeft(clock.Time(row.here.time_ps), 10), "  ",
                    reports::PadRight(MatchName(row.match), 12), g.root, " ",
                    g.result, "  ", Names(row), "\n");
  }
  if (shown < k.kernels.size()) {
    absl::StrAppend(&out, "  ... ", k.kernels.size() - shown,
                    " more (--top 0 shows all)\n");
  }
  return out;
}

}  // namespace ptxla::driver
