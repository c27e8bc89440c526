// What our compiler decides for a module, in the form of the TPU compiler's
// tables.
//
//   ASSIGN_OR_RETURN(ProgramFacts ours, OurKernels(std::move(module), slice));
#ifndef PTXLA_DRIVER_PARITY_OUR_KERNELS_H_
#define PTXLA_DRIVER_PARITY_OUR_KERNELS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/parity/kernel_facts.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct OurOptions {
  // Costs of other numbers of grid steps: the search runs once more per kernel.
  bool costs = true;
};

absl::StatusOr<ProgramFacts> OurKernels(std::unique_ptr<hlo::Module> module,
                                        const chips::Slice& slice,
                                        const OurOptions& options = {});

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_OUR_KERNELS_H_
