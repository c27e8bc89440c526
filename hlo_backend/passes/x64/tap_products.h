// Convolutions of f64 as one product for each tap of the window, as no array
// multiplies f64: a loop over the taps cuts what a tap meets out of the padded
// input and adds up.
//
//   f64[b,o,n] convolution(f64[b,i,k] x, f64[t,k,n] w)
//   ==> for each t: sum += dot(slice(pad(x), t), w[t])
//
// Groups, of features or of the batch, are a batch of the product.
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_TAP_PRODUCTS_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_TAP_PRODUCTS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TapProductsPass : public Pass {
 public:
  absl::string_view name() const override { return "tap-products"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_TAP_PRODUCTS_H_
