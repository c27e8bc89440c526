// Sliding windows in the form that has kernels (lowering/pooling): windows move
// over planes only, never over rows and lanes, and begin with the operation's
// identity.
//
//   [N,H,W,C] with a window over H and W   ->  transposed to [H,W,N,C] and back
//   [B,L] with a window over L             ->  [L,1,B]
//   pad before the window, with its initial value  ->  the window's own
//   padding,
//                                              its gaps -> a dilated base
//   [B,L], size and stride 8 along L           ->  reduce of [B,L/8,8]: windows
//                                              side by side of all dimensions
//                                              but one, or of all
//   a cumulative sum of rows or lanes, more than 128 of them  ->  of blocks and
//                                              of their sums (prefix_blocks.h)
//   planes that would be padding  ->  one dimension after the other
//                                              (separable_windows.h)
//   windows of one element        ->  the array itself
//   another initial value  ->  is combined with the result
//
// The order is that of convolutions (convolution_canonicalizer.h), so that
// transpose-mover lets the transposes between them meet; where there are none,
// [H,W,C,N] if that fills tiles much better (`policy.reshape_gain`; 16 features
// of 32 images). What is not simple (hlo_backend/analysis/plane_windows.h), or
// slides along all of its dimensions, is left to window-expander, maybe one
// dimension after the other.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_CANONICALIZER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_CANONICALIZER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class WindowCanonicalizerPass : public Pass {
 public:
  absl::string_view name() const override { return "window-canonicalizer"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// In that form: there is a kernel for it.
bool IsPlaneWindow(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WINDOW_CANONICALIZER_H_
