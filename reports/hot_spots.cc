#include "reports/hot_spots.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/op_label.h"

namespace ptxla::reports {
std::vector<HotSpot> HotSpots(const record::ProgramRecord& program) {
  struct Group {
    HotSpot spot;
    int64_t longest_ps = -1;
    double weighted = 0;
    int64_t weight = 0;
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
    if (op.time_ps() > group.longest_ps) {
      group.longest_ps = op.time_ps();
      group.spot.bound = op.bound();
    }
    if (op.has_fraction_of_peak()) {
      group.weighted +=
          op.fraction_of_peak() * static_cast<double>(op.time_ps());
      group.weight += op.time_ps();
    }
  }
  std::vector<HotSpot> spots;
  for (auto& [key, group] : groups) {
    if (group.weight > 0) {
      group.spot.fraction_of_peak =
          group.weighted / static_cast<double>(group.weight);
    }
    spots.push_back(group.spot);
  }
  std::stable_sort(
      spots.begin(), spots.end(),
      [](const HotSpot& a, const HotSpot& b) { return a.time > b.time; });
  return spots;
}

}  // namespace ptxla::reports
