// Broadcasts of matrices that members of a product's batch share
// (analysis/product_batch.h) belong into its kernel, which reads the matrices
// as they lie.
//
//   %b = bf16[8,4,512,64] broadcast(bf16[8,512,64] %k), dimensions={0,2,3}
//   %s = f32[8,4,512,256] dot(%b, %q), lhs_batch_dims={0,1}, ...
//   AddSharedOperands(s, &group);   // group: %s, %b
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SHARED_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SHARED_OPERANDS_H_

#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Such operands of `dot`, of which others that read them keep their own, to the
// instructions that are to be one kernel.
void AddSharedOperands(Instruction* dot, std::vector<Instruction*>* group);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SHARED_OPERANDS_H_
