// The order in which a reshape between transposes has its groups of
// dimensions: the one whose arrays fill their tiles best.
//
// Patches of an image end in [.., 16, 16, 3], three of 128 lanes, before they
// are joined to 768. A reshape changes groups of dimensions, and these may
// stand in any order where transposes are before and behind it anyway: with the
// batch in the lanes nothing is as wide. The TPU compiler finds the same by its
// layouts.
//
//   %t = bf16[32,14,14,16,16,3] transpose(%x), dimensions={0,1,3,2,4,5}
//   ROOT %r = bf16[32,196,768] reshape(%t)
//   ==>
//   %t = bf16[16,16,3,14,14,32] transpose(%x), dimensions={2,4,5,1,3,0}
//   %r = bf16[768,196,32] reshape(%t)
//   ROOT bf16[32,196,768] transpose(%r), dimensions={2,1,0}
//
// Work on broadcasts alone (waves of coordinates) is done in that order, too.
// Columns that are put side by side (the two of a rotary embedding that turns
// neighbours, stack and flatten) and broadcasts come in any order, too:
//
//   %s = f32[8,1024,512,2] concatenate(%a, %b)    // of [8,1024,512,1]
//   ROOT %r = f32[8,1024,1024] reshape(%s)
//   ==> transposes of %a and %b to [512,8,1024], reshape to [1024,8,1024] ...
//
// Only where half as many bytes move, with their padding
// (`policy.reshape_gain`).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_ORDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReshapeOrderPass : public Pass {
 public:
  absl::string_view name() const override { return "reshape-order"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_ORDER_H_
