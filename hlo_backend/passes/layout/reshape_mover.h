// Gives connected elementwise work one shape, so that it can be fused: reshapes
// between its instructions go to its borders, where they move no bytes.
//
//   %a = f32[1024,128] add(%dot, %bias2)          %a = f32[1024,128] add(...)
//   %b = f32[8,128,128] reshape(%a)        ==>    %c = f32[1024,128] tanh(%a)
//   %c = f32[8,128,128] tanh(%b)                  %d = f32[8,128,128]
//   reshape(%c)
//
// A cluster is elementwise instructions, with reshapes that keep the minor
// dimension between them. Its shape has only the dimensions that its
// broadcasts, iotas and reduces tell apart; dimensions of size 1 vanish. Where
// reduces leave one value of each plane of rows and lanes, and nothing tells
// the planes apart, these are one dimension (reduce_shaper.h). Where they would
// split the dimensions of a dot, the side with fewer arrays gives way: its
// broadcasts are made by themselves, or its dots stay apart. The dimension
// before the minor one is joined with the next only where whole tiles of rows
// meet, so that the reshapes at the borders are bitcasts.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_MOVER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_MOVER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReshapeMoverPass : public Pass {
 public:
  absl::string_view name() const override { return "reshape-mover"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_MOVER_H_
