// Where the chips of a slice are and which axes wrap.
//
//   ASSIGN_OR_RETURN(Slice slice, ParseSlice("v5e-8"));
//   slice.topology.shape()      // {2, 4}
//   slice.topology.wraps(1)     // false: an axis of v5e wraps iff it is 16
//   slice.topology.num_chips()  // 8
//
// Names (hardware rules: a slice of v2, v3, v4, v5p, tpu7x counts TensorCores,
// one of v5e and v6e counts chips):
//   v5e-8, v5litepod-8, v4-8 (4 chips), v5p-256, tpu7x-8
//   v5p:4x4x8     any box up to the pod; wraps as the rule of the chip says
//   2xv5e-256     two slices joined by the data centre network (DCN)
//   unit, v6e     a bare chip name: one chip
#ifndef PTXLA_CHIPS_TOPOLOGY_H_
#define PTXLA_CHIPS_TOPOLOGY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"

namespace ptxla::chips {

class Topology {
 public:
  struct Axis {
    int size = 1;
    bool wrap = false;  // the last chip has a link to the first
  };

  Topology() = default;
  Topology(std::string name, std::vector<Axis> axes, int num_slices,
           int cores_per_chip, int devices_per_chip, int chips_per_host)
      : name_(std::move(name)),
        axes_(std::move(axes)),
        num_slices_(num_slices),
        cores_per_chip_(cores_per_chip),
        devices_per_chip_(devices_per_chip),
        chips_per_host_(chips_per_host) {}

  const std::string& name() const { return name_; }  // as the user wrote it
  const std::vector<Axis>& axes() const { return axes_; }
  std::vector<int> shape() const;
  bool wraps(int axis) const { return axes_[axis].wrap; }
  int num_slices() const { return num_slices_; }
  int chips_per_slice() const;
  int num_chips() const { return chips_per_slice() * num_slices_; }
  int chips_per_host() const { return chips_per_host_; }
  int num_hosts() const;
  // TensorCores that run the program on each chip: all cores of its devices.
  int cores_per_chip() const { return cores_per_chip_; }
  int devices_per_chip() const { return devices_per_chip_; }
  int num_devices() const { return num_chips() * devices_per_chip_; }
  int cores_per_device() const { return cores_per_chip_ / devices_per_chip_; }

  // Chips are numbered with the last axis fastest, slice after slice.
  std::vector<int> Coordinates(int chip) const;
  int ChipAt(const std::vector<int>& coordinates) const;

  // "2x4 mesh without wrap", "4x4x8 torus", "8x16, the 16 wraps".
  std::string Description() const;

 private:
  std::string name_;
  std::vector<Axis> axes_;
  int num_slices_ = 1;
  int cores_per_chip_ = 1;
  int devices_per_chip_ = 1;
  int chips_per_host_ = 1;
};

struct Slice {
  ChipSpec chip;
  Topology topology;
};

struct SliceOptions {
  // Overrides the embedded chip of that name: --chip-file.
  const ChipSpec* chip = nullptr;
  // Cores used per chip; 0: all cores of one device, on every device.
  int cores_per_chip = 0;
};

// NotFound: unknown chip (did you mean). InvalidArgument: a slice that does
// not exist, with the nearest that do.
absl::StatusOr<Slice> ParseSlice(absl::string_view name,
                                 const SliceOptions& options = {});

// The wrap of each axis of a box of `chip`.
std::vector<Topology::Axis> AxesOfBox(const ChipSpec& chip,
                                      const std::vector<int>& shape);

// Shapes of the named slices of a chip up to its pod, smallest first.
std::vector<std::vector<int>> NamedShapes(const ChipSpec& chip);

// The name of a named shape: {2, 4} of v5e is "v5e-8".
std::string SliceName(const ChipSpec& chip, const std::vector<int>& shape);

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_TOPOLOGY_H_
