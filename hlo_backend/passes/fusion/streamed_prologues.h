// A product whose weights (the right operand) are computed in its kernel, and
// whose left operand is not, with its operands swapped: what is computed is
// what streams, and the result is made transposed and turned behind the kernel.
//
//   %d = f32[1024,4096] fusion(%x, %a, %b): dot(%x, multiply(%a, %b))
//   ==> %s = f32[4096,1024] fusion(%x, %a, %b): dot(multiply(%a, %b), %x)
//       %d = transpose(%s)
//
// So has the TPU compiler (libtpu 0.0.42.1) products on chips with
// `policy.streamed_prologue_rows`, from so many rows of the left operand on,
// whatever the transpose costs: the gradient of a vocabulary's weights is
// copied as a whole. What an epilogue reads of the result's size is turned in
// front of the kernel. A convert of the weights is no computation, one of the
// left operand is. On a module with layouts, after `fusion`.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_STREAMED_PROLOGUES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_STREAMED_PROLOGUES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class StreamedProloguesPass : public Pass {
 public:
  absl::string_view name() const override { return "streamed-prologues"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_STREAMED_PROLOGUES_H_
