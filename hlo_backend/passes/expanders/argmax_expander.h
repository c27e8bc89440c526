// Reduces of values and their positions at once (argmax, argmin) as two
// reduces over the same array:
//
//   best = max(x);  position = min over (x == best or x is NaN ? index : last)
//
// Fusion makes one kernel of them, with one pass over x
// (analysis/extremum_position.h).
//
// The body is recognised by what it gives, not by how it is written: it is
// evaluated on pairs of unequal, equal and NaN values. One that takes the
// larger (smaller) value, the smaller index of equal values, and NaN before
// all others (or whatever comparisons make of it, which depends on the order of
// the elements) is an argmax (argmin).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ARGMAX_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ARGMAX_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ArgmaxExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "argmax-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ARGMAX_EXPANDER_H_
