// How many cycles the main unit of a kernel would need for what its
// instruction asks, without any padding.
#ifndef PTXLA_DRIVER_EXPLAIN_USEFUL_WORK_H_
#define PTXLA_DRIVER_EXPLAIN_USEFUL_WORK_H_

#include <cstdint>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "isa/kernel.h"
#include "sim/core/kernel_account.h"

namespace ptxla::driver {

// Of the account's core. On the MXU: its share of the kernel's matmul FLOPs at
// the peak of the operands' type (bf16 for f32 and f16: further passes count as
// padding). On other units: their cycles times the share of elements in the
// blocks of the largest array that are elements of the array.
int64_t UsefulCycles(const hlo::Instruction& instruction,
                     const isa::Kernel& kernel,
                     const sim::KernelAccount& account,
                     const chips::ChipSpec& chip,
                     const isa::MachineModel& machine);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_USEFUL_WORK_H_
