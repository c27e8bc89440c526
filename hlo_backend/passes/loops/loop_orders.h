// Stacks that a loop takes slices of or updates part by part have inside of it
// the order of dimensions that they have outside:
//
//   %w = while(tuple(.., transpose(%p)))       // as the entry has %p
//     body: %s = dynamic-slice(%stack, %i, 0, ..)
//           %n = dynamic-update-slice(%made, %u, %i, 0, ..)
//   ROOT transpose(get-tuple-element(%w))
//   ==> %w = while(tuple(.., %p))
//     body: %s = transpose(dynamic-slice(%stack, %i, 0, ..))
//           %n = dynamic-update-slice(%made, transpose(%u), %i, 0, ..)
//   ROOT get-tuple-element(%w)
//
// Nothing of a stack's size is turned then (caches of a decode, layer by
// layer); slices are, where nothing inside takes them as they lie. Where what
// is cut stays outside of the two minor dimensions.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ORDERS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ORDERS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopOrdersPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-orders"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_ORDERS_H_
