#include "sim/core/roofline.h"

#include <algorithm>
#include <cmath>

namespace ptxla::sim {

BoundCycles RooflineCycles(const RooflineWork& work,
                           const DeviceModel& device) {
  const chips::ChipSpec& chip = device.slice->chip;
  const double share =
      static_cast<double>(work.cores) / chip.core().cores_per_chip;
  const double clock = device.clock.frequency().count();
  const double mxu =
      work.mxu_flops / (chip.PeakMatmul(work.type).count() * share) * clock;
  const double vpu = work.vpu_flops / (chip.PeakVpu().count() * share) * clock;
  const double hbm = work.hbm_bytes / device.hbm.StreamRate(0).count() * clock;
  BoundCycles bounds;
  const double most = std::max({mxu, vpu, hbm});
  const Bound bound = most == mxu   ? Bound::kMxu
                      : most == vpu ? Bound::kVpu
                                    : Bound::kHbm;
  bounds[bound] = static_cast<int64_t>(std::ceil(most));
  return bounds;
}

}  // namespace ptxla::sim
