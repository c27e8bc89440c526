// Copies between an array whose rows lie one behind the other, without tiles of
// several rows, and one in tiles: what the TPU compiler writes for weights of
// convolutions of one tap. They become transposes that have kernels, between
// bitcasts.
//
//   before: p = f32[512,256,1,1]{1,3,2,0:T(1,128)} ...
//           c = f32[512,256,1,1]{0,1,3,2:T(8,128)} copy(p)
//   after:  r = f32[512,2,128]{2,1,0:T(2,128)} bitcast(p)
//           s = f32[2,512,128]{2,1,0:T(8,128)} transpose(r)
//           t = f32[2,128,512]{2,1,0:T(8,128)} transpose(s)
//           c = f32[512,256,1,1]{0,1,3,2:T(8,128)} bitcast(t)
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LINEAR_COPIES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LINEAR_COPIES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Replaces `copy` if it is such a one, of 32-bit numbers; whether it did. What
// is added stands at the end of the computation.
bool ReplaceLinearCopy(Instruction* copy, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LINEAR_COPIES_H_
