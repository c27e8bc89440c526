#include "memory_model/hbm.h"

#include <algorithm>
#include <cmath>

namespace ptxla::memory {

HbmModel::HbmModel(const chips::ChipSpec& chip)
    : bandwidth_(chip.hbm_bandwidth_per_device()),
      efficiency_read_(chip.hbm().efficiency_read),
      efficiency_write_(chip.hbm().efficiency_write),
      turnaround_(chip.hbm().turnaround),
      in_place_(chip.Find("hbm.in_place") == nullptr
                    ? 0
                    : chip.Find("hbm.in_place")->value),
      block_half_(static_cast<double>(chip.hbm().block_half.count())),
      core_share_(chip.hbm().core_share),
      granule_(chip.dma().granule.count()),
      latency_(chip.hbm().latency),
      descriptor_(chip.dma().descriptor) {}

Picoseconds HbmModel::Busy(const Transfer& t) const {
  if (t.bytes.count() == 0) return Picoseconds(0);
  int64_t bytes = t.bytes.count();
  int64_t run = t.run.count() == 0 ? bytes : t.run.count();
  // Each run is moved in whole granules.
  const int64_t runs = CeilOfRatio(bytes, run);
  run = RoundUpTo(run, granule_);
  bytes = std::max(RoundUpTo(bytes, granule_), runs * run);
  const double efficiency = (t.write ? efficiency_write_ : efficiency_read_) *
                            static_cast<double>(run) / (run + block_half_);
  const double mix =
      turnaround_ * 2 * std::min(t.write_fraction, 1 - t.write_fraction);
  const double ps = static_cast<double>(bytes) * kPicosecondsPerSecond *
                    (1 / efficiency + mix + (t.in_place ? in_place_ : 0)) /
                    bandwidth_.count();
  return std::max(descriptor_, Picoseconds(std::ceil(ps)));
}

BytesPerSecond HbmModel::StreamRate(double x) const {
  return BytesPerSecond(bandwidth_.count() /
                        ((1 - x) / efficiency_read_ + x / efficiency_write_ +
                         turnaround_ * 2 * std::min(x, 1 - x)));
}

}  // namespace ptxla::memory
