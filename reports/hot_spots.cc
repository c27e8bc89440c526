#include "reports/hot_spots.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/ascii.h"

namespace ptxla::reports {
namespace {

// "fusion.17.remat2" -> "fusion".
std::string BaseName(const std::string& name) {
  const size_t dot = name.find('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace

std::string LayerPattern(const std::string& layer) {
  std::string out;
  for (size_t i = 0; i < layer.size(); ++i) {
    const bool starts = i == 0 || !absl::ascii_isalnum(layer[i - 1]);
    if (!starts || !absl::ascii_isdigit(layer[i])) {
      out += layer[i];
      continue;
    }
    size_t end = i;
    while (end < layer.size() && absl::ascii_isdigit(layer[end])) ++end;
    if (end == layer.size() || !absl::ascii_isalnum(layer[end])) {
      out += '*';
    } else {
      out += layer.substr(i, end - i);
    }
    i = end - 1;
  }
  return out;
}

std::vector<HotSpot> HotSpots(const record::ProgramRecord& program) {
  struct Group {
    HotSpot spot;
    int64_t longest_ps = -1;
    double weighted = 0;
    int64_t weight = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const record::OpRecord& op : program.ops()) {
    const std::string layer = LayerPattern(op.layer());
    const std::string name = BaseName(op.name());
    Group& group = groups[{layer, name}];
    group.spot.layer = layer;
    group.spot.name = name;
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
