// Writes batch-norm-training, -inference and -grad as reduces and elementwise
// instructions. With N elements per feature, x the input, dy the gradient:
//
//   mean = sum(x) / N;  var = sum(x * x) / N - mean^2
//   y    = (x - mean) * (rsqrt(var + eps) * scale) + offset
//   dscale = sum(dy * (x - mean)) * rsqrt(var + eps);  doffset = sum(dy)
//   dx   = scale * rsqrt(var + eps) / N *
//          (N * dy - doffset - (x - mean) * sum(dy * (x - mean)) / (var + eps))
//
// Sums of x and x * x can share one reduction kernel, as on TPUs.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BATCH_NORM_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BATCH_NORM_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class BatchNormExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "batch-norm-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BATCH_NORM_EXPANDER_H_
