// A reshape that adds a minor dimension of size 1 puts numbers that lie side by
// side into one lane each: what a transpose unit does with a row.
//
//   %r = f32[16,128,1] reshape(f32[16,128] %s)
//   ==> %r = f32[16,128,1] transpose(f32[16,1,128] reshape(%s)),
//            dimensions={0,2,1}
//
// Of large arrays only: it is two kernels instead of one. Runs behind fusion,
// which makes such a reshape part of the work around it, and knows no transpose
// there.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_EXPAND_TO_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_EXPAND_TO_TRANSPOSE_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ExpandToTransposePass : public Pass {
 public:
  absl::string_view name() const override { return "expand-to-transpose"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_EXPAND_TO_TRANSPOSE_H_
