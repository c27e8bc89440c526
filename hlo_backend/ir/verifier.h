// Is a module well formed? Operand counts, shapes (against shape inference),
// attributes, signatures of called computations, users and operands in step,
// no cycles, parameters numbered without gaps, aliasing within bounds.
//
// The first broken rule is InvalidArgument:
//   "m.hlo:12:5: %add.3 = add: operand shapes f32[2] and f32[3] differ"
#ifndef PTXLA_HLO_BACKEND_IR_VERIFIER_H_
#define PTXLA_HLO_BACKEND_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct VerifierOptions {
  // Every array has a layout (after layout assignment).
  bool require_layouts = false;
};

absl::Status VerifyModule(const Module& module,
                          const VerifierOptions& options = {});
// One instruction: operand count, attributes, inferred shape.
absl::Status VerifyInstruction(const Instruction& instruction);

// "m.hlo:12:5: %add.3 = add": how every message names an instruction. Without
// a position: "%add.3 = add in main".
std::string Describe(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_VERIFIER_H_
