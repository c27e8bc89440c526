// The transposes that move down through a computation, and what is known of
// the arrays around them (transpose_mover.h).
//
//   MovingTransposes moving(&b);
//   moving.Start(t);                      // t = transpose(c, {0,3,1,2})
//   const auto order = moving.Order({t, bias});       // {0,3,1,2}
//   y = moving.Behind(Add(moving.Before(t, *order),   // c
//                         moving.Before(bias, *order)), *order);
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVING_TRANSPOSES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVING_TRANSPOSES_H_

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

class MovingTransposes {
 public:
  // New ones are made by `b`, which must outlive this.
  explicit MovingTransposes(Builder* b) : b_(b) {}

  void Start(const Instruction* transpose) { moving_.insert(transpose); }
  bool Moves(const Instruction* x) const { return moving_.contains(x); }

  // Made of arrays of the entry alone, in their order; if that is not the one
  // of the dimensions, the transpose behind it.
  void AddToEntry(const Instruction* x) { of_entry_.insert(x); }
  bool IsOfEntry(const Instruction* x) const;
  // Elementwise, and reads such an array as it lies.
  bool IsWorkOfEntry(const Instruction& i) const;

  // The order in which most of `arrays` come that are not free, of several that
  // of the entry's arrays: an optimizer's results will lie so. None if fewer
  // than half come transposed in one way. One of the entry that others read
  // transposed anyway (a residual, by the convolution beside it) counts so.
  std::optional<DimVector> Order(absl::Span<Instruction* const> arrays) const;

  // `x` before its transpose by `order`.
  Instruction* Before(Instruction* x, const DimVector& order);
  // `value` transposed by `order`, which moves on.
  Instruction* Behind(Instruction* value, const DimVector& order);
  // One transpose of a transpose that moves; what is left of both goes on.
  Instruction* Met(const Instruction& transpose);
  // What a barrier lets through, each value behind its own transpose; null:
  // none of them moves.
  Instruction* BehindBarrier(const Instruction& barrier);

 private:
  // Of one array: that of the transpose that moves, or in which it is there
  // already, of one `beside`; empty: as its dimensions are.
  DimVector OrderOf(const Instruction& x,
                    absl::Span<Instruction* const> beside) const;

  Builder* b_;
  absl::flat_hash_set<const Instruction*> moving_;
  absl::flat_hash_set<const Instruction*> of_entry_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVING_TRANSPOSES_H_
