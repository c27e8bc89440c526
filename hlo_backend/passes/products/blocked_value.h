// A value of images whose one axis is cut into blocks that are batch members
// (space_to_batch.h): how it lies, and what is made of it.
//
//   // [1,56,56,64] in 8 blocks of 7 columns
//   BlockedValue y = {conv /* [56,7,8,64] */, {1, 2, 0, 3}, 2, 0, 8, 56};
//   WholeImage(&b, y)  // [1,56,56,64]
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_VALUE_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_VALUE_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct BlockedValue {
  Instruction* value = nullptr;
  DimVector order;                 // of value's dimensions: those of the array
  int64_t axis = 0, batch = 0;     // the array's dimensions: planes of a block,
                                   // and its members times blocks
  int64_t blocks = 1, length = 1;  // of the axis
  bool zeros = false;              // beyond its length

  int64_t At(int64_t dimension) const;  // its place in value
  int64_t planes() const { return value->shape().dim(At(axis)); }
  int64_t members() const { return value->shape().dim(At(batch)) / blocks; }
};

// `v` with its dimensions in another order.
Instruction* InOrder(Builder* b, const BlockedValue& v, const DimVector& order);
// The array again: [batch * blocks, planes] joined, without what lies beyond.
Instruction* WholeImage(Builder* b, const BlockedValue& v);
// `value`, or zeros, where planes are beyond the length.
Instruction* Filled(Builder* b, const BlockedValue& v, Instruction* value);
Instruction* WithZeros(Builder* b, const BlockedValue& v);
// With `low` planes of the block before and `high` of the next one, at most a
// block's; `border`, a scalar, at the image's ends.
Instruction* WithNeighbours(Builder* b, const BlockedValue& v, int64_t low,
                            int64_t high, Instruction* border);
// `x` in blocks of so many planes, as `like`, which need not have a value.
BlockedValue CutIntoBlocks(Builder* b, Instruction* x, int64_t planes,
                           const BlockedValue& like);
// Blocks of one lie where those of the other do.
bool AreCutAlike(const BlockedValue& a, const BlockedValue& b);
// Sizes with the members and their blocks apart.
DimVector Apart(const BlockedValue& v);
// `x`, whose dimensions are `to` of the array's, for all blocks of `like`.
Instruction* Repeated(Builder* b, Instruction* x, const DimVector& to,
                      const BlockedValue& like);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_VALUE_H_
