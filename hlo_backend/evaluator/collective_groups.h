// Who takes part in a collective with whom.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVE_GROUPS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVE_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Devices that run in step: device = replica * partitions + partition.
struct DeviceSet {
  std::vector<int64_t> ids;  // ascending
  int64_t replicas = 1;
  int64_t partitions = 1;

  // Position of a device in `ids`, or -1.
  int Find(int64_t id) const;
};

using DeviceGroups = std::vector<std::vector<int64_t>>;

// The groups as device ids. What the listed numbers mean depends on channel id
// and use_global_device_ids (XLA's CollectiveOpGroupMode). The instruction has
// CollectiveAttrs.
absl::StatusOr<DeviceGroups> DeviceGroupsOf(const Instruction& i,
                                            const DeviceSet& devices);

// What a device's group contributes, in group order: positions in
// devices.ids, and its own place in the group.
struct Membership {
  std::vector<int> members;
  int own = 0;
};

// The group of devices.ids[k]. With `mirror`, a member that is not evaluated
// is taken to hold the same values as the device that asks.
absl::StatusOr<Membership> MembershipOf(const DeviceGroups& groups, size_t k,
                                        const DeviceSet& devices, bool mirror);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_COLLECTIVE_GROUPS_H_
