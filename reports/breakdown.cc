#include "reports/breakdown.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "reports/format.h"
#include "reports/hot_spots.h"

namespace ptxla::reports {
namespace {

constexpr int kHotSpots = 5;
constexpr int kSpotName = 44;

std::vector<std::pair<const char*, int64_t>> Bounds(
    const record::BoundTimes& b) {
  std::vector<std::pair<const char*, int64_t>> rows = {
      {"MXU", b.mxu_ps()},
      {"HBM", b.hbm_ps()},
      {"VPU", b.vpu_ps()},
      {"ICI, exposed", b.ici_ps()},
      {"DCN, exposed", b.dcn_ps()},
      {"overheads", b.overhead_ps()},
      {"host, exposed", b.host_ps()},
      {"input", b.input_ps()}};
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const auto& r) { return r.second == 0; }),
             rows.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return rows;
}

char PeakLetter(const std::string& bound) {
  if (bound == "hbm") return 'B';
  if (bound == "ici" || bound == "dcn") return 'L';
  return bound == "vpu" ? 'V' : 'F';
}

}  // namespace

std::string RenderBreakdown(const record::RunRecord& run) {
  const Picoseconds step(run.step_time().value_ps());
  const TimeScale scale = ScaleFor(step);
  // One number of decimals for the whole table, from the total.
  const std::string total =
      Significant(static_cast<double>(step.count()) / scale.picoseconds, 4);
  const size_t point = total.find('.');
  const int decimals = point == std::string::npos
                           ? 0
                           : static_cast<int>(total.size() - point) - 1;
  const auto time = [&](Picoseconds t, int width) {
    return absl::StrFormat("%*.*f", width, decimals,
                           static_cast<double>(t.count()) / scale.picoseconds);
  };
  const auto share = [&](int64_t ps) {
    return Percent(static_cast<double>(ps) / static_cast<double>(step.count()));
  };
  std::vector<std::string> left, right;
  left.push_back(absl::StrCat(PadRight("where the step goes", 20),
                              PadLeft(scale.unit, 8), PadLeft("share", 9)));
  for (const auto& [name, ps] : Bounds(run.time_by_bound())) {
    left.push_back(absl::StrCat(PadRight(name, 20), time(Picoseconds(ps), 8),
                                PadLeft(share(ps), 9)));
  }
  left.push_back(absl::StrCat(PadRight("total", 20), time(step, 8),
                              PadLeft("100.0 %", 9)));
  if (run.has_steady_program()) {
    const std::vector<HotSpot> spots =
        HotSpots(run.programs(run.steady_program()));
    right.push_back(absl::StrCat(PadRight("hot spots (layer)", kSpotName),
                                 PadLeft(scale.unit, 8), "   of peak"));
    std::string letters;
    for (const HotSpot& s : spots) {
      if (static_cast<int>(right.size()) > kHotSpots) break;
      const std::string full =
          absl::StrCat(s.layer, s.layer.empty() ? "" : " ", s.name, " x",
                       s.count, s.estimated ? " (estimated)" : "");
      // The end of a long name says most.
      const std::string name =
          full.size() <= kSpotName
              ? full
              : absl::StrCat("..", full.substr(full.size() - kSpotName + 2));
      std::string peak;
      if (s.fraction_of_peak.has_value()) {
        const char letter = PeakLetter(s.bound);
        peak = absl::StrCat(Percent(*s.fraction_of_peak, 0), " ",
                            std::string(1, letter));
        if (letters.find(letter) == std::string::npos) letters += letter;
      }
      right.push_back(absl::StrCat(PadRight(name, kSpotName), time(s.time, 8),
                                   PadLeft(peak, 10)));
    }
    std::vector<std::string> legend;
    for (char c : std::string("FBVL")) {
      if (letters.find(c) == std::string::npos) continue;
      legend.push_back(c == 'F'   ? "F flops"
                       : c == 'B' ? "B bandwidth"
                       : c == 'V' ? "V vector slots"
                                  : "L link");
    }
    if (!legend.empty()) right.push_back(absl::StrJoin(legend, ", "));
  }
  std::string out;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line =
        absl::StrCat("  ", PadRight(i < left.size() ? left[i] : "", 47),
                     i < right.size() ? right[i] : "");
    while (!line.empty() && line.back() == ' ') line.pop_back();
    absl::StrAppend(&out, line, "\n");
  }
  return out;
}

}  // namespace ptxla::reports
