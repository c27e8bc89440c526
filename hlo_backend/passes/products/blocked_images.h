// Values of images whose one axis is cut into blocks that are batch members
// (space_to_batch.h): a convolution's result is one, and what elementwise work,
// sums and other convolutions make of it is made of the blocks as they are.
//
//   images.Add(WholeImage(&b, y), y);
//   images.Follow(add)  // add of [56,7,8,64], and the whole image of that
//
// What reads an array in blocks of as many planes shares them.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_IMAGES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BLOCKED_IMAGES_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/products/blocked_value.h"

namespace ptxla::hlo {

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
  // value; once, unless it is asked for with others in between.
  const BlockedValue& Cut(Instruction* x, int64_t planes,
                          const BlockedValue& like);
  // The value that stands for elementwise work, a sum, a pooling, a broadcast,
  // a part or a concatenation of features of what is in blocks; null: it is
  // none, or has another array beside it that is not.
  Instruction* Follow(Instruction* i);

 private:
  static Builder BuilderOf(Instruction* i);
  // The first of its operands that is in blocks.
  const BlockedValue* FirstOf(const Instruction& i) const;
  Instruction* Elementwise(Instruction* i);
  Instruction* Concatenate(Instruction* i);
  Instruction* Slice(Instruction* i);
  Instruction* Reshape(Instruction* i);
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
