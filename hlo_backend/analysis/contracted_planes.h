// Products that contract the planes of both operands beside a dimension of
// their matrices: the gradient of a weight that [batch, rows, K] met, where
// rows with padding between them are no rows of one matrix.
//
//   bf16[8,1001,1024] x bf16[8,1001,512], contracting {0,1} and {0,1}
//   // 8 planes of K, 1001 rows each: one after another, each cut for itself
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_CONTRACTED_PLANES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_CONTRACTED_PLANES_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Which pair of contracted dimensions, 0 or 1, is one of the matrices'; the
// other one is the major dimension of both operands. nullopt: not this form.
std::optional<int> MatrixContraction(const Instruction& dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_CONTRACTED_PLANES_H_
