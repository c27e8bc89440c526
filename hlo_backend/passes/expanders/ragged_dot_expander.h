// ragged-dot as the calls that have kernels (ir/ragged_call.h), with what the
// sizes of the groups decide computed before them: where groups begin, which
// group and row tile each grid step takes.
//
//   %r = f32[M,N] ragged-dot(%x, %w, %sizes), rhs_contracting_dims={1} ...
//   ==> %r = f32[M,N] custom-call(%x, %w, %sizes, %rows, %group, %tile),
//            custom_call_target="RaggedDotRows"
//
// (bf16 where grouped rows of bf16 give bf16; else converted behind.)
//
// Which forms run dense, every row meeting every group, is a policy of the
// chip's compiler: bits of `policy.ragged_dot_dense`, 1 for rhs [G, K, N], 2
// for rhs [G, N, K], 4 for a contracted ragged dimension. An rhs [G, N, K] is
// transposed first, as TPU compilers do.
//
// Unimplemented: batch dimensions, and more dimensions than these.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_DOT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_DOT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class RaggedDotExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "ragged-dot-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_DOT_EXPANDER_H_
