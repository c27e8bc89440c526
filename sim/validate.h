// Whether a program can run on a slice at all: every index in range, every
// asynchronous operation started once and awaited once, no more cores than the
// device has. Errors name the op.
#ifndef PTXLA_SIM_VALIDATE_H_
#define PTXLA_SIM_VALIDATE_H_

#include "absl/status/status.h"
#include "chips/topology.h"
#include "isa/program.h"

namespace ptxla::sim {

absl::Status ValidateProgram(const isa::Program& program,
                             const chips::Slice& slice);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_VALIDATE_H_
