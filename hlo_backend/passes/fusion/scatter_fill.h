// A scatter of rows into an array of one value is one kernel, which fills what
// it adds to (analysis/filled_scatter.h): the gradient of an embedding is
// written once. Otherwise zeros are written, and rows read and written again.
//
//   zeros = broadcast(0), sums = scatter(zeros, n, rows)
//   ==> sums = fusion(n, rows), kind=kCustom, calls={ both }
//
// So does the TPU compiler (libtpu 0.0.42.1). On a module with layouts, after
// `movement-fusion`.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SCATTER_FILL_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SCATTER_FILL_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ScatterFillPass : public Pass {
 public:
  absl::string_view name() const override { return "scatter-fill"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SCATTER_FILL_H_
