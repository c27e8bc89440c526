// Values of images whose one axis is cut into blocks that are batch members
// (space_to_batch.h): a convolution's result is one, and what elementwise work,
// sums and other convolutions make of it is made of the blocks as they are.
//
//   // [1,56,56,64] in 8 blocks of 8 columns, the last one of nothing
//   BlockedValue y = {conv /* [56,8,8,64] */, {1, 2, 0, 3}, 2, 0, 8, 56};
//   images.Add(WholeImage(&b, y), y);
//   images.Follow(add)  // add of [56,8,8,64], and the whole image of that
//
// Each array is cut once, whatever reads it.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_IMAGES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_IMAGES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
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

class BlockedImages {
 public:
  // Of these instructions, operands first, those are followed that a
  // convolution or a sum of planes reads in the end: others have no use for
  // blocks.
  explicit BlockedImages(absl::Span<Instruction* const> order);

  // What `x` is in blocks, or null.
  const BlockedValue* Of(const Instruction* x) const;
  void Add(const Instruction* x, BlockedValue v);
  // `x` in blocks of so many planes, cut like `like`, which need not have a
  // value; once, however often it is asked for.
  const BlockedValue& Cut(Instruction* x, int64_t planes,
                          const BlockedValue& like);
  // The value that stands for elementwise work, a sum, a pooling or a broadcast
  // of what is in blocks; null: it is none, or has another array beside it that
  // is not.
  Instruction* Follow(Instruction* i);

 private:
  Instruction* Elementwise(Instruction* i);
  Instruction* Reduce(Instruction* i);
  Instruction* ReduceWindow(Instruction* i);
  Instruction* Broadcast(Instruction* i);
  // An operand beside one like `like`; null: it cannot be cut so.
  Instruction* Beside(Builder* b, Instruction* x, const BlockedValue& like);
  Instruction* Replaced(Builder* b, BlockedValue v);

  absl::flat_hash_map<const Instruction*, BlockedValue> values_;
  absl::flat_hash_set<const Instruction*> wanted_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_IMAGES_H_
