// Proves that code keeps the contract of the exposed pipeline on a machine:
// every opcode exists there; slots and units are not used twice; registers are
// within the chip's and not read before their latency is over, nor written
// twice with crossing latencies; FIFOs are popped in order, not early, and stay
// within depth, and are empty at the end of each loop body relative to its
// start, and of entry, step and exit; loads of a bundle hit different VMEM
// banks as far as addresses are known (in a loop: in every iteration); windows
// lie inside their arguments and their slots; VMEM and SMEM fit; semaphores
// balance.
//
//   RETURN_IF_ERROR(VerifyKernel(kernel, machine)) << kernel.name;
//   // Internal: step, bundle 17: v3 is read 1 cycle after vadd.f32 wrote it;
//   // its latency is 2
//
// Cost: each loop body is read until its pipeline state repeats (two or three
// times).
#ifndef PTXLA_ISA_VERIFIER_H_
#define PTXLA_ISA_VERIFIER_H_

#include "absl/status/status.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"
#include "isa/program.h"

namespace ptxla::isa {

absl::Status VerifyKernel(const Kernel& kernel, const MachineModel& machine);

// All kernels, and that calls bind every argument to a slice that holds it,
// copies and collectives pair up, and buffers are inside their spaces.
absl::Status VerifyProgram(const Program& program, const MachineModel& machine);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_VERIFIER_H_
