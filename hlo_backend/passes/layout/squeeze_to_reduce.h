// A reshape that drops a minor dimension of size 1 takes numbers that lie in
// one lane each and lays them side by side: what a reduce along the lanes does
// with its results.
//
//   %r = f32[2,8,2048] reshape(f32[2,8,2048,1] %s)
//   ==> %r = f32[2,8,2048] reduce(%s, -0), dimensions={3}, to_apply=%add
//
// One element and the identity give the element, bit by bit. Runs when shapes
// are settled: simplification makes a reshape of such a reduce.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_SQUEEZE_TO_REDUCE_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_SQUEEZE_TO_REDUCE_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SqueezeToReducePass : public Pass {
 public:
  absl::string_view name() const override { return "squeeze-to-reduce"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_SQUEEZE_TO_REDUCE_H_
