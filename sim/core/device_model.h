// What the simulator needs to know of one device, resolved once: its clock, its
// memories in ticks, and the machine that the ISA sees.
#ifndef PTXLA_SIM_CORE_DEVICE_MODEL_H_
#define PTXLA_SIM_CORE_DEVICE_MODEL_H_

#include <array>
#include <cstdint>

#include "base/units.h"
#include "chips/topology.h"
#include "isa/machine_model.h"
#include "memory_model/hbm.h"
#include "sim/core/ticks.h"

namespace ptxla::sim {

// What serves a DMA.
enum class Memory : uint8_t { kHbm, kOnChip, kHost };
inline constexpr int kNumMemories = 3;

struct DeviceModel {
  explicit DeviceModel(const chips::Slice& slice);

  const chips::Slice* slice;  // outlives the model
  Clock clock;
  isa::MachineModel machine;
  memory::HbmModel hbm;
  int cores;
  std::array<int64_t, kNumMemories> latency_ticks;
  // BandwidthServer rates that one core can use. Copies on the chip are of the
  // core's own engine; cores share HBM.
  std::array<int64_t, kNumMemories> core_cap;

  // Ticks for which the memory is occupied by a transfer.
  int64_t Work(Memory memory, const memory::Transfer& transfer) const;
  int64_t CyclesOf(Picoseconds t) const {
    return CycleAtOrAfter(ToTicks(t, clock));
  }
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_DEVICE_MODEL_H_
