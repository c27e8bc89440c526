// Sorts in the form of their kernels (lowering/sorting/sort_problem.h):
//
//   types     values of 8 and 16 bits, and pred, become f32 or 32-bit integers;
//             the comparator converts back, which costs nothing in registers
//   place     the sorted dimension is the second minor one (each lane a sort of
//             its own) where there are enough sorts side by side, as the TPU
//             compiler copies them; else the minor one, a row a sort
//   ties      an operand that counts along the dimension is marked: a stable
//             sort needs no other index (ir/sort_config.h)
//
// A sort along a dimension of size 0 or 1 is its operands.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SORT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SORT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SortExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "sort-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_SORT_EXPANDER_H_
