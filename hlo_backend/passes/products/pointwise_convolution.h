// Convolutions of one tap as the products that they are.
//
//   %c = bf16[56,56,256,64] convolution(%x, %w), window={size=1x1},
//        dim_labels=01bf_01io->01bf
//   ==> %d = bf16[56,56,256,64] dot(%x, reshape(%w)), lhs_contracting_dims={3}
//
// and the gradients of their weights, which contract planes and batch. Behind
// transpose-mover, which keeps planes outside from convolution to convolution;
// so the product's rows are planes and batch in one, if the batch is whole
// tiles. Strides, and rows of other batches, stay convolutions.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POINTWISE_CONVOLUTION_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POINTWISE_CONVOLUTION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class PointwiseConvolutionPass : public Pass {
 public:
  absl::string_view name() const override { return "pointwise-convolution"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POINTWISE_CONVOLUTION_H_
