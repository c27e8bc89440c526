// Which devices take part in a collective together, in each of the written
// forms, kept as it was read:
//   {{0,1},{2,3}}   [2,10]<=[20]   [3,10]<=[6,5]T(1,0)
//   mesh['x'=2,'y'=2] {'x'}
// An empty list "{}" means one group of all.
#ifndef PTXLA_HLO_BACKEND_IR_REPLICA_GROUPS_H_
#define PTXLA_HLO_BACKEND_IR_REPLICA_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hlo_backend/ir/mesh.h"

namespace ptxla::hlo {

struct IotaGroups {
  int64_t num_groups = 1;
  int64_t group_size = 1;
  IotaDevices devices;
  bool operator==(const IotaGroups& o) const {
    return num_groups == o.num_groups && group_size == o.group_size &&
           devices == o.devices;
  }
};

struct MeshGroups {
  Mesh mesh;
  std::vector<AxisRef> axes;  // devices that differ along these are a group
  bool operator==(const MeshGroups& o) const {
    return mesh == o.mesh && axes == o.axes;
  }
};

class ReplicaGroups {
 public:
  using List = std::vector<std::vector<int64_t>>;

  ReplicaGroups() = default;  // "{}"
  explicit ReplicaGroups(List groups) : value_(std::move(groups)) {}
  explicit ReplicaGroups(IotaGroups groups) : value_(std::move(groups)) {}
  explicit ReplicaGroups(MeshGroups groups) : value_(std::move(groups)) {}

  // "{}" was given: all devices are one group.
  bool empty() const;
  int64_t num_groups() const;  // 0 when empty()
  // Devices of the largest group; `all` when empty().
  int64_t group_size(int64_t all) const;
  // One more than the largest device mentioned; 0 when empty().
  int64_t DeviceCount() const;
  // Every form written out; {} when empty().
  List Expand() const;

  const List* list() const { return std::get_if<List>(&value_); }
  const IotaGroups* iota() const { return std::get_if<IotaGroups>(&value_); }
  const MeshGroups* mesh() const { return std::get_if<MeshGroups>(&value_); }

  std::string ToString() const;
  bool operator==(const ReplicaGroups& o) const { return value_ == o.value_; }

 private:
  std::variant<List, IotaGroups, MeshGroups> value_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_REPLICA_GROUPS_H_
