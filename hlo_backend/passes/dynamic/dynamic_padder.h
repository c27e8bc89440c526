// Arrays whose sizes are known at run time as arrays of their bounds.
//
//   n = s32[] ...
//   x = f32[<=8,128] set-dimension-size(p, n), dimensions={0}
//   r = f32[128] reduce(x, zero), dimensions={0}, to_apply=add
//   ==>
//   counts = pred[8,128] compare(iota, broadcast(n)), direction=LT
//   r = f32[128] reduce(select(counts, p, broadcast(zero)), zero), ...
//
// as the TPU compiler does. Work is that of the bounds. A result of the entry
// keeps its sizes: a set-dimension-size of the data, with zeros beyond, is all
// that stays. Parameters are taken to be as large as their bounds. Refused by
// name: arrays of dynamic size that enter or leave other computations (loops,
// branches), what the evaluator has no value for (reshapes across a dynamic
// dimension, convolutions), and, behind this pass, results of 64 bits.
#ifndef PTXLA_HLO_BACKEND_PASSES_DYNAMIC_DYNAMIC_PADDER_H_
#define PTXLA_HLO_BACKEND_PASSES_DYNAMIC_DYNAMIC_PADDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DynamicPadderPass : public Pass {
 public:
  absl::string_view name() const override { return "dynamic-padder"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_DYNAMIC_DYNAMIC_PADDER_H_
