// What the groups of a collective are on the slice: whole axes, or anything.
#ifndef PTXLA_INTERCONNECT_DEVICE_GROUPS_H_
#define PTXLA_INTERCONNECT_DEVICE_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "interconnect/closed_forms.h"

namespace ptxla::ici {

struct GroupShape {
  int size = 1;              // devices per group
  int devices_per_chip = 1;  // of a group that share a chip
  int slices = 1;            // slices that a group spans
  int groups_per_chip = 1;   // that share a chip and so its links
  // Chips of a group in one slice, in group order, of every group.
  std::vector<std::vector<int>> chips;
  // Set if each group is, within a slice, a box of whole axes.
  bool is_box = false;
  std::vector<Axis> axes;  // of that box, sizes above 1 only
};

// InvalidArgument: a device out of range, listed twice, or uneven groups.
absl::StatusOr<GroupShape> ShapeOfGroups(
    const std::vector<std::vector<int64_t>>& groups,
    const chips::Topology& topology);

}  // namespace ptxla::ici

#endif  // PTXLA_INTERCONNECT_DEVICE_GROUPS_H_
