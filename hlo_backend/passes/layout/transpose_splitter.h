// Cuts transposes that move the minor dimension into steps that kernels know:
// an exchange of the two minor dimensions, through the transpose unit, and
// permutations that keep rows whole. 32-bit words and bf16 of up to five
// dimensions need no such steps (lowering/movement/lane_transpose.h).
//
//   before: t = s8[8,128,2,64] transpose(x), dimensions={0,3,1,2}
//   after:  s = s8[8,2,128,64] transpose(x), dimensions={0,1,3,2}
//           t = s8[8,128,2,64] transpose(s), dimensions={0,2,1,3}
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_SPLITTER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_SPLITTER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// The permutations, one after the other, that kernels know; none if `target`
// leaves all where they are.
std::vector<DimVector> TransposeSteps(absl::Span<const int64_t> target);

class TransposeSplitterPass : public Pass {
 public:
  absl::string_view name() const override { return "transpose-splitter"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TRANSPOSE_SPLITTER_H_
