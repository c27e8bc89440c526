#include "hlo_backend/ir/replica_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::hlo {
namespace {

// Per mesh axis, the (stride, size) of the part that a group spans; the rest
// of the axis tells groups apart.
struct Digit {
  int64_t stride, size;
  bool in_group;
};

// The mesh as a mixed-radix number, most significant first: each axis is
// split into up to three digits by a sub-axis reference.
std::vector<Digit> Digits(const MeshGroups& groups) {
  std::vector<Digit> digits;
  int64_t stride = groups.mesh.size();
  for (const MeshAxis& axis : groups.mesh.axes) {
    std::vector<const AxisRef*> refs;
    for (const AxisRef& ref : groups.axes) {
      if (ref.name == axis.name) refs.push_back(&ref);
    }
    std::sort(refs.begin(), refs.end(), [](const AxisRef* a, const AxisRef* b) {
      return a->pre_size < b->pre_size;
    });
    auto push = [&](int64_t size, bool in_group) {
      if (size <= 1) return;
      stride /= size;
      digits.push_back({stride, size, in_group});
    };
    int64_t before = 1;
    for (const AxisRef* ref : refs) {
      push(ref->pre_size / before, false);
      const int64_t size = ref->sub_size > 0 ? ref->sub_size : axis.size;
      push(size, true);
      before = ref->pre_size * size;
    }
    push(axis.size / before, false);
  }
  return digits;
}

// All sums of digit * stride over the digits that match, first most
// significant.
std::vector<int64_t> Offsets(const std::vector<Digit>& digits, bool in_group) {
  std::vector<int64_t> offsets = {0};
  for (const Digit& d : digits) {
    if (d.in_group != in_group) continue;
    std::vector<int64_t> next;
    for (int64_t o : offsets) {
      for (int64_t i = 0; i < d.size; ++i) next.push_back(o + i * d.stride);
    }
    offsets = std::move(next);
  }
  return offsets;
}

}  // namespace

bool ReplicaGroups::empty() const {
  const List* groups = list();
  return groups != nullptr && groups->empty();
}

int64_t ReplicaGroups::num_groups() const {
  if (const List* groups = list()) return groups->size();
  if (const IotaGroups* groups = iota()) return groups->num_groups;
  return mesh()->mesh.size() / group_size(0);
}

int64_t ReplicaGroups::group_size(int64_t all) const {
  if (const IotaGroups* groups = iota()) return groups->group_size;
  if (const MeshGroups* groups = mesh()) {
    int64_t size = 1;
    for (const Digit& d : Digits(*groups)) size *= d.in_group ? d.size : 1;
    return size;
  }
  if (empty()) return all;
  size_t largest = 0;
  for (const auto& group : *list()) largest = std::max(largest, group.size());
  // "{{}}" is one group of all.
  return largest == 0 ? all : largest;
}

int64_t ReplicaGroups::DeviceCount() const {
  if (const IotaGroups* groups = iota()) return groups->devices.size();
  if (const MeshGroups* groups = mesh()) return groups->mesh.size();
  int64_t count = 0;
  for (const auto& group : *list()) {
    for (int64_t id : group) count = std::max(count, id + 1);
  }
  return count;
}

ReplicaGroups::List ReplicaGroups::Expand() const {
  if (const List* groups = list()) return *groups;
  List result;
  if (const IotaGroups* groups = iota()) {
    const std::vector<int64_t> devices = groups->devices.Expand();
    for (int64_t g = 0; g < groups->num_groups; ++g) {
      const auto begin = devices.begin() + g * groups->group_size;
      result.emplace_back(begin, begin + groups->group_size);
    }
    return result;
  }
  const std::vector<Digit> digits = Digits(*mesh());
  const std::vector<int64_t> devices = mesh()->mesh.Devices();
  const std::vector<int64_t> members = Offsets(digits, /*in_group=*/true);
  for (int64_t base : Offsets(digits, /*in_group=*/false)) {
    std::vector<int64_t> group;
    group.reserve(members.size());
    for (int64_t offset : members) group.push_back(devices[base + offset]);
    result.push_back(std::move(group));
  }
  return result;
}

std::string ReplicaGroups::ToString() const {
  if (const IotaGroups* groups = iota()) {
    return absl::StrCat("[", groups->num_groups, ",", groups->group_size, "]",
                        groups->devices.ToString());
  }
  if (const MeshGroups* groups = mesh()) {
    return absl::StrCat(groups->mesh.ToString(), " ",
                        AxisListToString(groups->axes));
  }
  std::string out = "{";
  for (const auto& group : *list()) {
    absl::StrAppend(&out, out.size() > 1 ? "," : "", "{",
                    absl::StrJoin(group, ","), "}");
  }
  out.push_back('}');
  return out;
}

}  // namespace ptxla::hlo
