// Gathers and scatters of one element per row as work on whole rows, where the
// row's position is compared with its index:
//
//   gather:   out[r] = sum over c of (c == clamp(index[r]) ? x[r, c] : 0)
//   scatter:  out[r, c] = c == index[r] ? combine(x[r, c], update[r]) : x[r, c]
//
// One dimension is indexed, all others are batching dimensions: what
// take_along_axis and its gradient are in a cross-entropy, and x[arange(n), t]
// (passes/expanders/counting_indices.h). The rows are read by
// the kernel that makes or uses them anyway, and nothing is fetched by address;
// where no other does, a gather stays one. The TPU's compiler has such scatters
// so too, and gathers all gathers. An index outside of the row
// clamps in a gather and drops the update in a scatter, as HLO says.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ONE_HOT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ONE_HOT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class OneHotExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "one-hot-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ONE_HOT_EXPANDER_H_
