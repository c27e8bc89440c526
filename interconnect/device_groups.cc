#include "interconnect/device_groups.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace ptxla::ici {
namespace {

// The axes of the box that `chips` fill, or false.
bool BoxOf(const chips::Topology& topology, const std::vector<int>& chips,
           std::vector<Axis>* axes) {
  const int rank = static_cast<int>(topology.axes().size());
  std::vector<std::vector<char>> seen(rank);
  for (int i = 0; i < rank; ++i) seen[i].resize(topology.axes()[i].size, 0);
  for (int chip : chips) {
    for (int i = rank - 1; i >= 0; --i) {
      const int size = topology.axes()[i].size;
      seen[i][chip % size] = 1;
      chip /= size;
    }
  }
  size_t product = 1;
  axes->clear();
  for (int i = 0; i < rank; ++i) {
    const int length =
        static_cast<int>(std::count(seen[i].begin(), seen[i].end(), char{1}));
    product *= static_cast<size_t>(length);
    if (length == 1) continue;
    // Part of an axis is a line of neighbours, without the wrap.
    const auto first = std::find(seen[i].begin(), seen[i].end(), char{1});
    if (std::count(first, first + length, char{1}) != length) return false;
    const bool whole = length == topology.axes()[i].size;
    axes->push_back({length, whole && topology.wraps(i)});
  }
  return product == chips.size();
}

}  // namespace

absl::StatusOr<GroupShape> ShapeOfGroups(
    const std::vector<std::vector<int64_t>>& groups,
    const chips::Topology& topology) {
  std::vector<std::vector<int64_t>> all = groups;
  if (all.empty()) {
    all.emplace_back();
    for (int d = 0; d < topology.num_devices(); ++d) all[0].push_back(d);
  }
  GroupShape shape;
  shape.size = static_cast<int>(all[0].size());
  const int per_chip = topology.devices_per_chip();
  const int per_slice = topology.chips_per_slice();
  std::vector<bool> used(topology.num_devices(), false);
  std::vector<int> group_of_chip(per_slice, -1);  // the last one met
  std::vector<int> groups_of_chip(topology.num_devices() / per_chip, 0);
  shape.is_box = true;
  for (size_t g = 0; g < all.size(); ++g) {
    if (static_cast<int>(all[g].size()) != shape.size) {
      return absl::InvalidArgumentError(
          absl::StrCat("groups of ", shape.size, " and of ", all[g].size(),
                       " devices in one collective"));
    }
    std::set<int> slices;
    std::vector<int> chips;  // of the first slice, in order, once each
    int first_slice = -1, last_slice = -1;
    for (int64_t device : all[g]) {
      if (device < 0 || device >= topology.num_devices()) {
        return absl::InvalidArgumentError(
            absl::StrCat("device ", device, " of a collective; the slice has ",
                         topology.num_devices()));
      }
      if (used[device]) {
        return absl::InvalidArgumentError(
            absl::StrCat("device ", device, " is twice in a collective"));
      }
      used[device] = true;
      const int chip = static_cast<int>(device) / per_chip;
      if (slices.empty() || chip / per_slice != last_slice) {
        last_slice = chip / per_slice;
        slices.insert(last_slice);
      }
      if (first_slice < 0) first_slice = chip / per_slice;
      if (chip / per_slice != first_slice) continue;
      const int local = chip % per_slice;
      if (group_of_chip[local] != static_cast<int>(g)) {
        group_of_chip[local] = static_cast<int>(g);
        chips.push_back(local);
      }
    }
    for (int chip : chips) {
      const int sharing = ++groups_of_chip[first_slice * per_slice + chip];
      shape.groups_per_chip = std::max(shape.groups_per_chip, sharing);
    }
    std::vector<Axis> axes;
    const bool box = BoxOf(topology, chips, &axes);
    if (g == 0) {
      shape.axes = axes;
      shape.slices = static_cast<int>(slices.size());
      shape.devices_per_chip =
          shape.size /
          std::max<int>(1, static_cast<int>(chips.size()) * shape.slices);
    }
    bool same = axes.size() == shape.axes.size();
    for (size_t i = 0; same && i < axes.size(); ++i) {
      same = axes[i].size == shape.axes[i].size &&
             axes[i].wrap == shape.axes[i].wrap;
    }
    shape.is_box = shape.is_box && box && same;
    shape.chips.push_back(std::move(chips));
  }
  return shape;
}

}  // namespace ptxla::ici
