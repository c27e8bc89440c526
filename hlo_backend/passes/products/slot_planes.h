// Products of 128 rows and more whose columns are two dimensions, the second
// one of more than 128 and no whole tiles of lanes (slots of experts: [tokens,
// experts, slots]), have the first one as members of a batch: joined to one
// dimension, every element of the result would move to another lane. Members of
// fewer rows or columns are no products of their own (turned_results.h).
//
//   bf16[1024,8,160] dot(bf16[1024,512] %g, bf16[8,160,512] %out),
//     contracting {1} and {2}
//   ==> transpose(bf16[8,160,1024] dot(%out, broadcast(%g)))
//       // members that share %g (analysis/product_batch.h)
//
// Before transpose-mover, so that work on the result is done in that order. The
// TPU compiler finds the same by the layouts of convolutions over experts.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SLOT_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SLOT_PLANES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SlotPlanesPass : public Pass {
 public:
  absl::string_view name() const override { return "slot-planes"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SLOT_PLANES_H_
