// Gathers and scatters of any dimension numbers as what kernels do:
//
//   gather    out[n, :] = table[row[n], :]
//             out[n] = table[row[n], column[n]]  (analysis/element_gather.h)
//             out[n, :, :] = table[row[n], :, :]  (analysis/plane_gather.h)
//   scatter   table[row[n], :] op= updates[n, :]   or of single elements
//             or of planes (analysis/plane_scatter.h)
//
// row is s32[N]. The operand's windows become rows of a table by a transpose
// (none where the indexed dimensions are the major ones), index vectors become
// row numbers by arithmetic on the indices, windows that are longer than 1 in
// an indexed dimension become several rows. One window alone is a
// dynamic-slice, or a dynamic-update-slice. Elements of 8 and 16 bits are
// widened where no kernel has them: for single elements and for scatters. A
// scatter of several arrays whose body treats each for itself is several.
//
// After one-hot-expander and x64-elimination.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHER_CANONICALIZER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHER_CANONICALIZER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class GatherCanonicalizerPass : public Pass {
 public:
  absl::string_view name() const override { return "gather-canonicalizer"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHER_CANONICALIZER_H_
