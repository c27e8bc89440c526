// What meets the scores of an attention and is there in any order of the
// queries and keys, or cheap to turn (keys_first.h).
//
//   %m = pred[1024,1024] compare(%i, %j)
//   %b = pred[2,8,1024,1024] broadcast(%m), dimensions={2,3}
//   IsFreeScore(*b)          // a broadcast of it turned, or of iotas made so
//   BytesToTurn(*b)            // 0: the mask is made of iotas
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_LEAVES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_LEAVES_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// There in any order of dimensions: others read it in the one that it has.
bool IsFreeScore(const Instruction& x);

// Bytes that are transposed to have such a value with the last two dimensions
// in the other order.
int64_t BytesToTurn(const Instruction& x);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_LEAVES_H_
