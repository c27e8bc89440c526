// Makes one kernel of a product and of what finishes its rows: elementwise work
// on the result, reduces along its last dimension, and elementwise work that
// reads those again (scores, their softmax, dropout and all; or dP, its sum
// with P along the row, and dS).
//
// The TPU compiler fuses the same work behind the product and before the next
// one, in as many kernels: maximum, exponential and sum here, the division
// there. So here, where the next product can divide; else the rows leave the
// kernel finished, in the type that it takes.
//
// A product is taken where whole rows of its result, with what their passes
// keep, fit into VMEM beside the operands, and where rows are what is stored in
// the end: reduces that somebody else reads stay kernels of their own. Runs
// after layout assignment, before `fusion`.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class RowFusionPass : public Pass {
 public:
  absl::string_view name() const override { return "row-fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_FUSION_H_
