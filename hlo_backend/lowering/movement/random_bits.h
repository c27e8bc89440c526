// Kernel of rng-bit-generator with the hardware's own algorithm.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_RANDOM_BITS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_RANDOM_BITS_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// rng_default with a u64[2] state: one `vrng` for each register of the result;
// the state's second word counts them (base/numerics/random.h). Unimplemented:
// other algorithms (passes expand them) and states.
absl::StatusOr<isa::Kernel> EmitRandomBits(const KernelContext& context,
                                           const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_RANDOM_BITS_H_
