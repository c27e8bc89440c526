// What the transfers of a kernel's windows and descriptors cost the memory that
// serves them. TransferCost and its functions are kernel_plan.h's.
#ifndef PTXLA_SIM_CORE_TRANSFER_WORK_H_
#define PTXLA_SIM_CORE_TRANSFER_WORK_H_

#include <cstdint>

#include "sim/core/kernel_plan.h"

namespace ptxla::sim {

// Which memory serves a transfer between the two.
Memory MemoryOf(isa::Space a, isa::Space b);

// How a descriptor uses the memory that serves it.
struct DescriptorSide {
  Memory memory;
  bool write;
  bool both;    // of HBM: read and written
  int64_t run;  // contiguous bytes there
};
DescriptorSide SideOf(const isa::Kernel& kernel, const isa::DmaDescriptor& d);

// Ticks of the memory's server (DeviceModel::Work) for so many bytes, `run` of
// them contiguous. `arg`: of a window; -1: of a descriptor.
int64_t WorkOf(const KernelPlan& plan, const DeviceModel& device, Memory memory,
               bool write, int64_t bytes, int64_t run, int arg);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_TRANSFER_WORK_H_
