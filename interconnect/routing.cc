#include "interconnect/routing.h"

#include <algorithm>

namespace ptxla::ici {

std::vector<LinkId> Route(const chips::Topology& topology, int from, int to) {
  std::vector<LinkId> links;
  std::vector<int> at = topology.Coordinates(from);
  const std::vector<int> goal = topology.Coordinates(to);
  for (int axis = static_cast<int>(at.size()) - 1; axis >= 0; --axis) {
    const int n = topology.axes()[axis].size;
    const int ahead = (goal[axis] - at[axis] + n) % n;
    if (ahead == 0) continue;
    bool up = goal[axis] > at[axis];
    int steps = up ? ahead : n - ahead;
    if (topology.wraps(axis)) {
      up = 2 * ahead < n || (2 * ahead == n && at[axis] % 2 == 0);
      steps = up ? ahead : n - ahead;
    }
    for (int i = 0; i < steps; ++i) {
      links.push_back({topology.ChipAt(at), axis, up});
      at[axis] = (at[axis] + (up ? 1 : n - 1)) % n;
    }
  }
  return links;
}

int Hops(const chips::Topology& topology, int from, int to) {
  return static_cast<int>(Route(topology, from, to).size());
}

LinkLoad LoadOf(const chips::Topology& topology,
                const std::vector<std::pair<int, int>>& messages) {
  const int axes = static_cast<int>(topology.axes().size());
  std::vector<int> count(topology.chips_per_slice() * axes * 2, 0);
  LinkLoad load;
  for (const auto& [from, to] : messages) {
    const std::vector<LinkId> route = Route(topology, from, to);
    load.max_hops = std::max(load.max_hops, static_cast<int>(route.size()));
    for (const LinkId& link : route) {
      int& n = count[(link.chip * axes + link.axis) * 2 + (link.up ? 1 : 0)];
      load.max_messages = std::max(load.max_messages, ++n);
    }
  }
  return load;
}

}  // namespace ptxla::ici
