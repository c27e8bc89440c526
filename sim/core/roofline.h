// The cheapest fidelity: every kernel takes the longest of what its flops need
// at the MXU's or VPU's peak and what its bytes need at the HBM's rate, with no
// overlap between kernels and nothing in between. For screening.
#ifndef PTXLA_SIM_CORE_ROOFLINE_H_
#define PTXLA_SIM_CORE_ROOFLINE_H_

#include <cstdint>

#include "chips/chip_spec.h"
#include "sim/core/bound.h"
#include "sim/core/device_model.h"

namespace ptxla::sim {

struct RooflineWork {
  int64_t mxu_flops = 0;
  int64_t vpu_flops = 0;
  int64_t hbm_bytes = 0;
  int cores = 1;
  chips::MatmulType type = chips::MatmulType::kBf16;
};

// Cycles of the whole on the largest of its bounds; sums to the time.
BoundCycles RooflineCycles(const RooflineWork& work, const DeviceModel& device);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_ROOFLINE_H_
