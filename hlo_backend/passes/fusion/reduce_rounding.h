// A sum of bf16 numbers that is rounded to bf16 again is one reduce of bf16:
// the units add f32 and round once, whatever the type.
//
//   %w = f32[64,256] convert(bf16[64,256] %x)
//   %s = f32[64] reduce(%w, 0), dimensions={1}, to_apply=%add
//   %r = bf16[64] convert(%s)
//   ==> %r = bf16[64] reduce(%x, 0), dimensions={1}, to_apply=%add
//
// So has it libtpu 0.0.42.1, whose kernel rounds, where a conversion of the
// sums would be one more. Runs after softmax-fusion, whose sums are read again.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_REDUCE_ROUNDING_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_REDUCE_ROUNDING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReduceRoundingPass : public Pass {
 public:
  absl::string_view name() const override { return "reduce-rounding"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_REDUCE_ROUNDING_H_
