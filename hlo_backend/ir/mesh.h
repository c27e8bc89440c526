// A named arrangement of devices and references to its axes, as named
// shardings and mesh replica groups use them:
//   mesh['x'=2,'y'=4], device_ids=([8]<=[4,2]T(1,0)) and axes {'x', 'y':(1)2}.
#ifndef PTXLA_HLO_BACKEND_IR_MESH_H_
#define PTXLA_HLO_BACKEND_IR_MESH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptxla::hlo {

// The list 0..n-1, reshaped to `reshape_dims`, transposed by `transpose_perm`,
// read in row-major order: "[4,2]<=[2,4]T(1,0)".
struct IotaDevices {
  std::vector<int64_t> reshape_dims;
  std::vector<int> transpose_perm;

  int64_t size() const;
  std::vector<int64_t> Expand() const;
  // "<=[2,4]T(1,0)"; the T part only where it permutes.
  std::string ToString() const;
  bool operator==(const IotaDevices& o) const {
    return reshape_dims == o.reshape_dims && transpose_perm == o.transpose_perm;
  }
};

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis& o) const {
    return name == o.name && size == o.size;
  }
};

struct Mesh {
  std::vector<MeshAxis> axes;
  // Neither: devices 0..n-1 in order.
  std::vector<int64_t> device_ids;
  std::optional<IotaDevices> iota;

  int64_t size() const;
  // Index of the axis, or -1.
  int FindAxis(const std::string& name) const;
  // Devices in row-major order of the axes.
  std::vector<int64_t> Devices() const;
  std::string ToString() const;  // "mesh['x'=2,'y'=4]"
  bool operator==(const Mesh& o) const {
    return axes == o.axes && device_ids == o.device_ids && iota == o.iota;
  }
};

// An axis, or a slice of one: 'x':(pre_size)size.
struct AxisRef {
  std::string name;
  int64_t pre_size = 1;
  int64_t sub_size = 0;  // 0: the whole axis
  std::string ToString() const;
  bool operator==(const AxisRef& o) const {
    return name == o.name && pre_size == o.pre_size && sub_size == o.sub_size;
  }
};

// "{'x', 'y':(1)2}".
std::string AxisListToString(const std::vector<AxisRef>& axes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_MESH_H_
