// A kernel prepared for simulation: per distinct grid step the DMA events with
// their offsets and the time that each transfer occupies its memory, and per
// core the sequence of steps. Made once per kernel, core count and arguments
// that are updated in place.
#ifndef PTXLA_SIM_CORE_KERNEL_PLAN_H_
#define PTXLA_SIM_CORE_KERNEL_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "isa/kernel.h"
#include "isa/timing.h"
#include "sim/core/device_model.h"

namespace ptxla::sim {

struct PlanEvent {
  enum class Kind : uint8_t {
    kStartInput,
    kWaitInput,
    kStartOutput,
    kWaitOutput,
    kStartDescriptor,
    kWaitSemaphore,
    kSignal,
  };
  int64_t offset = 0;  // cycles from the start of the code
  Kind kind = Kind::kStartInput;
  Memory memory = Memory::kHbm;
  bool write = false;
  bool both = false;    // of a descriptor: read and written in HBM
  int index = 0;        // window, or semaphore
  int ahead = 0;        // of an input's start: steps until its block is used
  int64_t amount = 0;   // bytes
  int64_t counted = 0;  // of a descriptor: bytes that its semaphore counts
  int64_t run = 0;      // contiguous bytes
  int64_t work = 0;     // ticks
};

// Cycles for which the busiest unit of each sort was taken.
struct UnitUse {
  int64_t mxu = 0, valu = 0, eup = 0, xlu = 0, load = 0, store = 0;
  int64_t vpu() const;
  void Add(const UnitUse& o, int64_t times);
};

// The code of an entry, an exit or one sort of grid step.
struct StepPlan {
  std::vector<PlanEvent> events;  // that can move or wait for something
  int64_t cycles = 0;             // without stalls
  UnitUse use;
  int64_t hbm_work = 0;  // ticks
};

struct KernelPlan {
  const isa::Kernel* kernel = nullptr;
  int cores = 1;
  int working_cores = 1;        // cores that have steps
  std::vector<StepPlan> entry;  // per core
  StepPlan exit;
  std::vector<StepPlan> sorts;
  std::vector<std::vector<int32_t>> steps;  // per core: indices into sorts
  bool symmetric = false;                   // all cores do the same
  bool alike = false;         // but for the last of their many steps
  double write_fraction = 0;  // of the bytes through HBM
  int64_t hbm_bytes = 0;      // moved by all cores
  int64_t write_bytes = 0;
  std::vector<int64_t> hbm_work;  // ticks, per core
  std::vector<bool> in_place;     // InPlaceArgs of the call
};

// What one transfer costs in a kernel.
struct TransferCost {
  Memory memory = Memory::kHbm;
  int64_t work = 0;  // ticks
  bool write = false;
};
TransferCost WindowCost(const KernelPlan& plan, const DeviceModel& device,
                        int window, int64_t bytes, int64_t run);
TransferCost DescriptorCost(const KernelPlan& plan, const DeviceModel& device,
                            int descriptor);

// `timing`: of the kernel, on the device's machine. `in_place`: InPlaceArgs of
// the call.
KernelPlan MakePlan(const isa::Kernel& kernel, const isa::KernelTiming& timing,
                    int cores, const DeviceModel& device,
                    std::vector<bool> in_place = {});

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_PLAN_H_
