// Moves the transposes behind convolutions, sliding windows and parameters that
// do not lie in the order of their dimensions (compact_entry.h), and those that
// have others to meet (meeting_transposes.h), down through the work that
// follows, so that they meet those before the next convolution, product or
// result and both vanish: a network between its ends is computed in the order
// of its convolutions, an optimizer in the order of its weights.
//
//   add(transpose(c), broadcast(bias))  ==>  transpose(add(c, broadcast(bias)))
//   reduce(transpose(c), dimensions={0,2,3})  ==>  reduce(c, dimensions={...})
//
// It goes through elementwise work, reduces, windows, pads, slices, reversals,
// concatenations and optimization barriers. Of the arrays that an instruction
// reads, at least half must come transposed in the same way; the others are
// transposed back. Broadcasts, iotas, splats and work on these follow for
// nothing. Products of matrices are swapped where most of what they meet lies
// the other way, those that would leave a few numbers in the lanes make planes
// (product_planes.h), those of rows that lie turned take them so
// (turned_rows.h), those of rows that are whole tiles only as they come take
// them as one matrix. Reshapes of what a transpose brings into the lanes go
// first (reshape_of_rows.h). One of a parameter in which only dimensions of
// size 1 change places is a transpose here: columns [100,1] that lie along
// lanes are joined as rows [1,100]. Updates behind a product that is a result
// itself, and behind a gradient of a convolution's weights, have its order
// (result_products.h, gradient_order.h). Lookups in large tables stay in their
// columns (turned_tables.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_MOVER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_MOVER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TransposeMoverPass : public Pass {
 public:
  absl::string_view name() const override { return "transpose-mover"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_MOVER_H_
