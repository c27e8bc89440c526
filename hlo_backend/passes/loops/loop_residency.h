// Where the state of a loop lies while it runs:
//
//  - counters, bounds and indices lie in SMEM (loop_scalars.h);
//  - arrays that an iteration makes from the last one's lie in VMEM, where all
//    that read and make them are kernels, as far as there is room;
//  - arrays that a kernel makes for the loop, which only reads them, do too;
//  - stacks of planes that it fills for something else than a kernel (results
//    of the program) stay in HBM, where they are to be in the end;
//  - of two cores that share no memory but HBM (v5p) each has only what a
//  fusion
//    of vector work makes alone, and no product began.
//
// Loops inside of loops come first, in the same room.
//
// What else the loop only reads stays where it is. Kernels and copies before
// the loop bring values there; a result that something else than a kernel takes
// is copied to HBM behind it, unless that is a loop that only reads it.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESIDENCY_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESIDENCY_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopResidencyPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-residency"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESIDENCY_H_
