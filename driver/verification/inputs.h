// Arguments on which a module can be judged: seeded, and of the kind that each
// parameter asks for (parameter_roles.h).
//
//   weights N(0, 0.02), gains 1 + N(0, 0.02), biases N(0, 0.02), data N(0, 1),
//   positive 0.01 + N(0, 1)^2, scalars in [0.5, 1), indices even in their
//   range, flags 0 or 1, integer scalars in [1, 1000)
//
//   const std::vector<hlo::Literal> arguments = MakeInputs(*module, 42);
#ifndef PTXLA_DRIVER_VERIFICATION_INPUTS_H_
#define PTXLA_DRIVER_VERIFICATION_INPUTS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

// One literal per parameter; the same for a seed on every machine.
std::vector<hlo::Literal> MakeInputs(const hlo::Module& module, uint64_t seed);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_INPUTS_H_
