// Custom calls that only say something about a value (Sharding, layout
// constraints, AssumeGatherIndicesInBound ...): no device runs them, their
// value is their operand. Which they are is in analysis/data/custom_calls.txt
// (free). Nor are broadcasts, reshapes and transposes that leave all as it is:
// initial values of windows are such broadcasts of constants.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ANNOTATIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ANNOTATIONS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Not a placement in host memory: that moves the value.
bool IsAnnotation(const Instruction& i);

// A broadcast, reshape or transpose to the operand's own shape and order.
bool IsOwnOperand(const Instruction& i);

class AnnotationRemovalPass : public Pass {
 public:
  absl::string_view name() const override { return "annotation-removal"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_ANNOTATIONS_H_
