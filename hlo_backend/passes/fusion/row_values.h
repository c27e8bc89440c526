// Narrow values of rows (a bf16 log-sum of each token) that work behind a
// product spreads over columns are spread as f32 and rounded there again: two
// to a word, as they lie, no kernel of a product reads them.
//
//   b = bf16[1024,32000] broadcast(bf16[1024] v), dimensions={0}
//   d = bf16[1024,32000] subtract(product, b)
//   ==> w = f32[1024] convert(v), f = f32[1024,32000] broadcast(w)
//       d = subtract(product, convert(f))
//
// So are the maxima and sums of a softmax in bf16 over scores that lie keys
// first, which are reduced to f32: the kernel of the scores takes maxima, and
// the next product the division.
//
// Before layouts are assigned; fusion.h takes the rest into the kernel.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_VALUES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_VALUES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class RowValuesPass : public Pass {
 public:
  absl::string_view name() const override { return "row-values"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_VALUES_H_
