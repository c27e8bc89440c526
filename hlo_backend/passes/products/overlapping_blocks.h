// An axis of images, cut into blocks that are batch members: with planes that a
// window sees of their neighbours, and zeros beyond the image.
//
//   // [1,56,56,64] in 8 blocks of 7, one more on each side: [8,9,56,64]
//   x = OverlappingBlocks(&b, x, {8, 7, 1, 1});
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OVERLAPPING_BLOCKS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OVERLAPPING_BLOCKS_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct BlockCut {
  int64_t blocks = 1;
  int64_t advance = 1;        // planes from one to the next
  int64_t low = 0, high = 0;  // of the one before and of the next one; both
                              // at most `advance`
};

// `x`: [batch, axis, ..], the axis no longer than blocks * advance. The result:
// [batch * blocks, low + advance + high, ..].
Instruction* OverlappingBlocks(Builder* b, Instruction* x, const BlockCut& cut);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OVERLAPPING_BLOCKS_H_
