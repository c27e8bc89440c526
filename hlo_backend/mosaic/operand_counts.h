// Whether the operations that are timed have the operands that they must have,
// and vectors elements: bytecode that was cut or altered reads well and says
// nonsense.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_OPERAND_COUNTS_H_
#define PTXLA_HLO_BACKEND_MOSAIC_OPERAND_COUNTS_H_

#include "absl/status/status.h"
#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {

// InvalidArgument names the first operation that does not.
absl::Status CheckOperandCounts(const Module& module);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_OPERAND_COUNTS_H_
