// Sums of columns of what a convolution makes, in the convolution's own
// dimensions, so that its kernel can make them beside its result. Around
// products of one tap, which are dots of merged rows, elementwise work has
// merged rows as well (reshape_mover.h), and statistics of a batch
// normalisation with it.
//
//   c = bf16[56,56,256,64] convolution(x, w)
//   r = bf16[802816,64] reshape(c)
//   f32[64] reduce(multiply(f32 convert(r), ...)), dimensions={0}
//   ==> f32[64] reduce(multiply(f32[56,56,256,64] convert(c), ...)),
//       dimensions={0,1,2}
//
// The work between is done once more. Only where the convolution is the last
// product whose result the sum is made of: that one's kernel has the others.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_CONVOLUTION_SUMS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_CONVOLUTION_SUMS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ConvolutionSumsPass : public Pass {
 public:
  absl::string_view name() const override { return "convolution-sums"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_CONVOLUTION_SUMS_H_
