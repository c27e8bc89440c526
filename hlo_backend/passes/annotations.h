// Custom calls that only say something about a value (Sharding, layout
// constraints, AssumeGatherIndicesInBound ...): no device runs them, their
// value is their operand. Which they are is in analysis/data/custom_calls.txt
// (free).
#ifndef PTXLA_HLO_BACKEND_PASSES_ANNOTATIONS_H_
#define PTXLA_HLO_BACKEND_PASSES_ANNOTATIONS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Not a placement in host memory: that moves the value.
bool IsAnnotation(const Instruction& i);

class AnnotationRemovalPass : public Pass {
 public:
  absl::string_view name() const override { return "annotation-removal"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_ANNOTATIONS_H_
