// Products whose weights have a small dimension in front of their columns (gate
// and value of a gated unit, [K, 2, F]), index by index.
//
// Such an array has 2 of the 8 rows of a tile, and so has the product
// [M, 2, F]. Where everybody takes one index of it, and the other operand is a
// matrix, the indices are members of a batch that share the matrix: a kernel
// reads them where they lie, as the TPU compiler's (libtpu 0.0.42.1) does. Of
// other operands, the slice is taken of the weights; where an operand is put
// together from such slices (two pads that are added: the gradient), the
// products of its parts are put together, or summed if the dimension is
// contracted.
//
//   before: y = bf16[M,2,F] dot(x, w),  slices y[:,0,:] and y[:,1,:]
//   after:  bf16[2,M,F] dot(broadcast(x), w), batch 2, and slices of that
//
// Left alone: sizes above 4, dimensions that are planes already (in front of
// the rows of tiles) or lie along lanes, and products of which more than
// slices is used.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PLANE_SPLITTER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PLANE_SPLITTER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DotPlaneSplitterPass : public Pass {
 public:
  absl::string_view name() const override { return "dot-plane-splitter"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_PLANE_SPLITTER_H_
