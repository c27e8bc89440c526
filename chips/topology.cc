#include "chips/topology.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"

namespace ptxla::chips {

std::vector<int> Topology::shape() const {
  std::vector<int> shape;
  for (const Axis& axis : axes_) shape.push_back(axis.size);
  return shape;
}

int Topology::chips_per_slice() const {
  int chips = 1;
  for (const Axis& axis : axes_) chips *= axis.size;
  return chips;
}

int Topology::num_hosts() const {
  return num_slices_ *
         ((chips_per_slice() + chips_per_host_ - 1) / chips_per_host_);
}

std::vector<int> Topology::Coordinates(int chip) const {
  std::vector<int> at(axes_.size());
  int rest = chip % chips_per_slice();
  for (int i = static_cast<int>(axes_.size()) - 1; i >= 0; --i) {
    at[i] = rest % axes_[i].size;
    rest /= axes_[i].size;
  }
  return at;
}

int Topology::ChipAt(const std::vector<int>& coordinates) const {
  CHECK_EQ(coordinates.size(), axes_.size());
  int chip = 0;
  for (size_t i = 0; i < axes_.size(); ++i) {
    chip = chip * axes_[i].size + coordinates[i];
  }
  return chip;
}

std::string Topology::Description() const {
  if (num_chips() == 1) return "1 chip";
  std::vector<std::string> wrapped;
  bool all = true;
  for (const Axis& axis : axes_) {
    if (axis.size == 1) continue;
    if (axis.wrap) {
      wrapped.push_back(absl::StrCat(axis.size));
    } else {
      all = false;
    }
  }
  const std::string box = absl::StrJoin(shape(), "x");
  const std::string many =
      num_slices_ > 1 ? absl::StrCat(num_slices_, " slices of ") : "";
  if (all) return absl::StrCat(many, box, " torus");
  if (wrapped.empty()) return absl::StrCat(many, box, " mesh without wrap");
  return absl::StrCat(many, box, ", only the axis of ",
                      absl::StrJoin(wrapped, " and "), " wraps");
}

std::vector<Topology::Axis> AxesOfBox(const ChipSpec& chip,
                                      const std::vector<int>& shape) {
  const SlicesProto& rules = chip.slices();
  bool cubes = true;
  for (int size : shape) cubes = cubes && size % 4 == 0;
  const bool whole =
      shape.size() == static_cast<size_t>(rules.pod_size()) &&
      std::equal(shape.begin(), shape.end(), rules.pod().begin());
  std::vector<Topology::Axis> axes;
  for (int size : shape) {
    bool wrap = false;
    switch (rules.wrap()) {
      case AXIS_OF_16:
        wrap = size == 16;
        break;
      case CUBES_OF_4:
        wrap = cubes;
        break;
      case WHOLE_POD:
        wrap = whole;
        break;
      default:
        break;
    }
    axes.push_back({size, wrap});
  }
  return axes;
}

}  // namespace ptxla::chips
