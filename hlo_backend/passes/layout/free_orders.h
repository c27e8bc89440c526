// Reduces of what is made of numbers of dimensions and small arrays alone
// (one-hot labels, counts) have the order of dimensions of a reduce of an array
// to the same result, where theirs is not one of an array: then one kernel
// makes both (fusion/free_sums.h).
//
//   %x = f32[30522,8,512]
//   f32[8,512] reduce(%x), dimensions={0}
//   %hot = f32[8,512,30522] select(compare(iota, broadcast(%labels)), ...)
//   f32[8,512] reduce(%hot), dimensions={2}
//   ==>
//   f32[8,512] reduce(f32[30522,8,512] select(...)), dimensions={0}
//
// In the TPU compiler such a value has any layout that its readers want.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_ORDERS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_ORDERS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class FreeOrdersPass : public Pass {
 public:
  absl::string_view name() const override { return "free-orders"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_FREE_ORDERS_H_
