// A gather as a kernel does it (gather_canonicalizer.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_GATHER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_GATHER_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// What the gather becomes; null: it stays as it is.
Instruction* CanonicalGather(Instruction* gather);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_GATHER_H_
