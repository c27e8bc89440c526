#include "hlo_backend/ir/mesh.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::hlo {

int64_t IotaDevices::size() const {
  int64_t n = 1;
  for (int64_t d : reshape_dims) n *= d;
  return n;
}

std::vector<int64_t> IotaDevices::Expand() const {
  const int rank = static_cast<int>(reshape_dims.size());
  std::vector<int64_t> strides(rank, 1);
  for (int i = rank - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * reshape_dims[i + 1];
  }
  std::vector<int> perm = transpose_perm;
  if (perm.empty()) {
    perm.resize(rank);
    std::iota(perm.begin(), perm.end(), 0);
  }
  const int64_t n = size();
  std::vector<int64_t> devices(n);
  for (int64_t linear = 0; linear < n; ++linear) {
    int64_t rest = linear, device = 0;
    for (int i = rank - 1; i >= 0; --i) {
      const int d = perm[i];
      device += rest % reshape_dims[d] * strides[d];
      rest /= reshape_dims[d];
    }
    devices[linear] = device;
  }
  return devices;
}

std::string IotaDevices::ToString() const {
  std::string out = absl::StrCat("<=[", absl::StrJoin(reshape_dims, ","), "]");
  bool permutes = false;
  for (size_t i = 0; i < transpose_perm.size(); ++i) {
    permutes |= transpose_perm[i] != static_cast<int>(i);
  }
  if (permutes) {
    absl::StrAppend(&out, "T(", absl::StrJoin(transpose_perm, ","), ")");
  }
  return out;
}

int64_t Mesh::size() const {
  int64_t n = 1;
  for (const MeshAxis& a : axes) n *= a.size;
  return n;
}

int Mesh::FindAxis(const std::string& name) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<int64_t> Mesh::Devices() const {
  if (!device_ids.empty()) return device_ids;
  if (iota) return iota->Expand();
  std::vector<int64_t> devices(size());
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::string Mesh::ToString() const {
  std::string out = "mesh[";
  for (size_t i = 0; i < axes.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? "," : "", "'", axes[i].name,
                    "'=", axes[i].size);
  }
  out.push_back(']');
  if (!device_ids.empty()) {
    absl::StrAppend(&out, ", device_ids=(", absl::StrJoin(device_ids, ","),
                    ")");
  } else if (iota) {
    absl::StrAppend(&out, ", device_ids=([", size(), "]", iota->ToString(),
                    ")");
  }
  return out;
}

std::string AxisRef::ToString() const {
  std::string out = absl::StrCat("'", name, "'");
  if (sub_size > 0) absl::StrAppend(&out, ":(", pre_size, ")", sub_size);
  return out;
}

std::string AxisListToString(const std::vector<AxisRef>& axes) {
  return absl::StrCat("{",
                      absl::StrJoin(axes, ", ",
                                    [](std::string* out, const AxisRef& a) {
                                      out->append(a.ToString());
                                    }),
                      "}");
}

}  // namespace ptxla::hlo
