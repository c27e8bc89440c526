#include "hlo_backend/evaluator/collective_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {

int DeviceSet::Find(int64_t id) const {
  const auto at = std::lower_bound(ids.begin(), ids.end(), id);
  return at != ids.end() && *at == id ? static_cast<int>(at - ids.begin()) : -1;
}

absl::StatusOr<DeviceGroups> DeviceGroupsOf(const Instruction& i,
                                            const DeviceSet& devices) {
  const CollectiveAttrs& attrs = i.attrs<CollectiveAttrs>();
  DeviceGroups listed = attrs.groups.Expand();
  const int64_t replicas = devices.replicas;
  const int64_t partitions = devices.partitions;
  const bool channel = attrs.channel_id.has_value();
  if (channel && attrs.use_global_device_ids) {
    if (listed.empty()) {
      return absl::InvalidArgumentError(
          "use_global_device_ids without replica groups");
    }
    return listed;
  }
  const bool by_partition =
      channel && (i.opcode() == Opcode::kAllToAll ||
                  i.opcode() == Opcode::kCollectiveBroadcast);
  if (listed.empty()) {
    listed.emplace_back();
    for (int64_t k = 0; k < (by_partition ? partitions : replicas); ++k) {
      listed[0].push_back(k);
    }
  }
  DeviceGroups groups;
  if (by_partition) {  // groups of partitions, in every replica
    for (int64_t r = 0; r < replicas; ++r) {
      for (const auto& group : listed) {
        groups.emplace_back();
        for (int64_t p : group) groups.back().push_back(r * partitions + p);
      }
    }
  } else if (channel) {  // groups of replicas, with all their partitions
    for (const auto& group : listed) {
      groups.emplace_back();
      for (int64_t r : group) {
        for (int64_t p = 0; p < partitions; ++p) {
          groups.back().push_back(r * partitions + p);
        }
      }
    }
  } else {  // groups of replicas, for every partition
    for (int64_t p = 0; p < partitions; ++p) {
      for (const auto& group : listed) {
        groups.emplace_back();
        for (int64_t r : group) groups.back().push_back(r * partitions + p);
      }
    }
  }
  return groups;
}

absl::StatusOr<Membership> MembershipOf(const DeviceGroups& groups, size_t k,
                                        const DeviceSet& devices, bool mirror) {
  const int64_t id = devices.ids[k];
  for (const auto& group : groups) {
    const auto at = std::find(group.begin(), group.end(), id);
    if (at == group.end()) continue;
    Membership m;
    m.own = static_cast<int>(at - group.begin());
    for (int64_t other : group) {
      int position = devices.Find(other);
      if (position < 0) {
        if (!mirror) {
          return absl::InvalidArgumentError(absl::StrCat(
              "device ", other, " takes part but is not evaluated here"));
        }
        position = static_cast<int>(k);
      }
      m.members.push_back(position);
    }
    return m;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no replica group holds device ", id));
}

}  // namespace ptxla::hlo
