// Exponentials of scores with their keys in the rows (keys_first.h) that a
// gradient needs: they are stored by the kernel that adds them up.
//
//   %e = f32[8,4,256,256] exponential(subtract(%scores, %maxima))
//   %s = f32[8,4,256] reduce(%e), dimensions={2}
//   ... the weights %e / %s, the sums of their gradient, that of the scores
//
// Work that reads one array and gives no fewer bytes is else done again in each
// kernel that needs it (fusion_chains.h). Here that is the EUP's, in two or
// more kernels beside the sums', one of them behind a product, whose block
// waits for it. The TPU compiler stores the same of scores that it would finish
// (finished_columns.h); of others it makes exponentials again.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_KEPT_EXPONENTIALS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_KEPT_EXPONENTIALS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

bool IsKeptExponential(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_KEPT_EXPONENTIALS_H_
