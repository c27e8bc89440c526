// Convolutions of f32 at high and highest precision as one of bf16, which the
// arrays multiply.
//
// A number is the sum of two or three of 8 bits each (high, highest); of their
// products those count that are not below the last bit: 3 or 6. Parts lie side
// by side in the features that are summed:
//
//   convolution(f32[8,32,32,16] x, f32[3,3,16,16] w), highest
//   ==> convolution(bf16[8,32,32,96] {x0,x0,x0,x1,x1,x2},
//                   bf16[3,3,96,16] {w0,w1,w2,w0,w1,w0})
//
// Grouped ones are summed, one for each pair. Infinities become NaN. Products
// of one tap are dots, whose kernels do this themselves.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRECISE_CONVOLUTIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRECISE_CONVOLUTIONS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class PreciseConvolutionsPass : public Pass {
 public:
  absl::string_view name() const override { return "precise-convolutions"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRECISE_CONVOLUTIONS_H_
