// Gradients of the weights of transposed convolutions, whose input is dilated:
// nearly all that is contracted are zeros. With the operands swapped the input
// is the window, and its steps are between taps; the taps come out reversed.
//
//   dw = convolution(x, dy), window={size=33x33 pad=2_2x2_2 lhs_dilate=2x2},
//        dim_labels=f01b_i01o->01bf              // x [1,16,16,64], 3x3 taps
//   ==>
//   reverse(convolution(dy, x), window={size=16x16 rhs_dilate=2x2}, ...)
//
// which is the gradient of a convolution with steps, as other passes know it.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DILATED_GRADIENT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DILATED_GRADIENT_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DilatedGradientPass : public Pass {
 public:
  absl::string_view name() const override { return "dilated-gradient"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DILATED_GRADIENT_H_
