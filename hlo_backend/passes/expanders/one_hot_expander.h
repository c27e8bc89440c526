// Scatters of one element per row as work on whole rows, where the row's
// position is compared with its index:
//
//   out[r, c] = c == index[r] ? combine(x[r, c], update[r]) : x[r, c]
//
// One dimension is indexed, all others are batching dimensions: what the
// gradient of take_along_axis is in a cross-entropy, and that of
// x[arange(n), t] (passes/expanders/counting_indices.h). The rows are written
// by the kernel that makes them anyway, and nothing is fetched by address. An
// index outside of the row drops the update, as HLO says. The TPU's compiler
// has such scatters so, too, and gathers all gathers (libtpu 0.0.42.1).
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
