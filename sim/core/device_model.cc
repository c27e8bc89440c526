#include "sim/core/device_model.h"

#include <algorithm>

#include "isa/from_chip_spec.h"
#include "memory_model/bandwidth_server.h"

namespace ptxla::sim {

DeviceModel::DeviceModel(const chips::Slice& s)
    : slice(&s),
      clock(s.chip.core().clock),
      machine(isa::FromChipSpec(s.chip)),
      hbm(s.chip),
      cores(s.topology.cores_per_device()) {
  core_cap[static_cast<int>(Memory::kHbm)] =
      memory::BandwidthServer::RateOf(s.chip.hbm().core_share);
  core_cap[static_cast<int>(Memory::kOnChip)] =
      memory::BandwidthServer::kFullRate / cores;
  core_cap[static_cast<int>(Memory::kHost)] =
      memory::BandwidthServer::kFullRate;
  latency_ticks[static_cast<int>(Memory::kHbm)] = ToTicks(hbm.latency(), clock);
  latency_ticks[static_cast<int>(Memory::kOnChip)] =
      ToTicks(s.chip.dma().on_chip_latency, clock);
  latency_ticks[static_cast<int>(Memory::kHost)] =
      ToTicks(hbm.latency(), clock);
}

int64_t DeviceModel::Work(Memory memory,
                          const memory::Transfer& transfer) const {
  if (memory == Memory::kHbm) return ToTicks(hbm.Busy(transfer), clock);
  if (memory == Memory::kOnChip) {
    return ToTicks(transfer.bytes / slice->chip.dma().on_chip, clock);
  }
  return ToTicks(std::max(slice->chip.dma().descriptor,
                          transfer.bytes / slice->chip.host_link().pcie),
                 clock);
}

}  // namespace ptxla::sim
