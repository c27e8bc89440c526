// A transpose that brings the batch of an input into rows, and that one
// convolution alone reads, becomes part of its kernel
// (analysis/turned_input.h): the array is read once, as it lies, and never
// stored the other way. Runs after `fusion`.
//
//   before: t = bf16[56,56,32,64] transpose(x), dimensions={1,2,0,3}
//           c = bf16[56,56,32,64] convolution(t, w)
//   after:  f = bf16[56,56,32,64] fusion(x, w), kind=kOutput  (t and c in it)
//
// Left alone: inputs that others read turned too, gradients of weights, and
// depthwise convolutions, whose kernels have other windows.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_INPUT_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_INPUT_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ConvolutionInputFusionPass : public Pass {
 public:
  absl::string_view name() const override { return "convolution-input-fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_INPUT_FUSION_H_
