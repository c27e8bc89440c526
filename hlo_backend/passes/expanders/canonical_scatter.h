// A scatter as a kernel does it (gather_canonicalizer.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_SCATTER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_SCATTER_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// What the scatter becomes; null: it stays as it is.
Instruction* CanonicalScatter(Instruction* scatter);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_SCATTER_H_
