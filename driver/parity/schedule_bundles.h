// The bundles of our schedule of a program: the code alone, without the
// synchronisation that measurements show and schedules do not
// (policy.step_sync), and without DMA waits.
//
//   CountScheduleBundles(compiled.program, slice.chip).whole
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_BUNDLES_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_BUNDLES_H_

#include "chips/chip_spec.h"
#include "isa/program.h"

namespace ptxla::driver {

// Of all kernels of a program, in bundles of all its cores.
struct ScheduleBundles {
  double whole = 0;  // of entry, steps and exit
  double body = 0;   // of the steps alone
  double step = 0;   // beside the body, of a step of the last kernel
  double entry = 0;  // and exit, of the last kernel
  double prologue = 0;
};

ScheduleBundles CountScheduleBundles(const isa::Program& program,
                                     const chips::ChipSpec& chip);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_BUNDLES_H_
