#include "reports/hot_spots.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/op_label.h"

namespace ptxla::reports {
std::vector<HotSpot> HotSpots(const record::ProgramRecord& program) {
  struct Group {
    HotSpot spot;
    struct Bound {
      int64_t time_ps = 0;
      double weighted = 0;  // fractions of peak, by time
      int64_t weight = 0;
    };
    std::map<std::string, Bound> bounds;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const record::OpRecord& op : program.ops()) {
    const OpLabel label = LabelOf(op);
    Group& group = groups[{label.layer, label.kind}];
    group.spot.layer = label.layer;
    group.spot.name = label.kind;
    group.spot.count += op.count();
    group.spot.time += Picoseconds(op.time_ps());
    group.spot.estimated |= op.estimated();
    Group::Bound& bound = group.bounds[op.bound()];
    bound.time_ps += op.time_ps();
    if (op.has_fraction_of_peak()) {
      bound.weighted +=
          op.fraction_of_peak() * static_cast<double>(op.time_ps());
      bound.weight += op.time_ps();
    }
  }
  std::vector<HotSpot> spots;
  for (auto& [key, group] : groups) {
    const auto longest =
        std::max_element(group.bounds.begin(), group.bounds.end(),
                         [](const auto& a, const auto& b) {
                           return a.second.time_ps < b.second.time_ps;
                         });
    group.spot.bound = longest->first;
    const Group::Bound& bound = longest->second;
    if (bound.weight > 0) {
      group.spot.fraction_of_peak =
          bound.weighted / static_cast<double>(bound.weight);
    }
    spots.push_back(group.spot);
  }
  std::stable_sort(
      spots.begin(), spots.end(),
      [](const HotSpot& a, const HotSpot& b) { return a.time > b.time; });
  return spots;
}

}  // namespace ptxla::reports
