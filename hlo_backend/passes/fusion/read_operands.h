// What stands in front of a product and belongs into its kernel, which reads
// the arrays behind it as they lie: broadcasts of matrices that members of its
// batch share (analysis/product_batch.h), and conversions of weights of the
// entry that it reads as bf16 (ConvertsFit of products/dot_prologues.h).
//
//   %b = bf16[8,4,512,64] broadcast(bf16[8,512,64] %k), dimensions={0,2,3}
//   %s = f32[8,4,512,256] dot(%b, %q), lhs_batch_dims={0,1}, ...
//   ReadOperands(s)      // %b
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_READ_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_READ_OPERANDS_H_

#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Such operands of `product`, of its own: where others read one too, they keep
// theirs.
std::vector<Instruction*> ReadOperands(Instruction* product);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_READ_OPERANDS_H_
