// Signatures of the computations that reduce, map, sort, scatter and the
// collectives apply. Part of the verifier.
#ifndef PTXLA_HLO_BACKEND_IR_VERIFY_CALLEES_H_
#define PTXLA_HLO_BACKEND_IR_VERIFY_CALLEES_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// InvalidArgument with the broken rule, without the instruction's name. Also
// replica groups and source-target pairs: each device at most once.
absl::Status VerifyCallees(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_VERIFY_CALLEES_H_
