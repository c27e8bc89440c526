// Data movement that nobody sees between becomes one kernel.
//
// A chain of reshapes, transposes, slices and copies whose values have one
// reader each is one movement: what it does to an element is the composition
// of its steps. A head split of attention, for example, moves half rows only
// once:
//
//   bf16[32,16,128,64] transpose{0,2,1,3} reshape bf16[4096,1024]
//
// A chain is cut where the minor dimension changes (those transposes have a
// kernel of their own, through the transpose unit), and where no block of the
// whole would fit into VMEM: a kernel moves equal blocks, so what all steps
// leave in order must be cut finely enough.
//
// Concatenations are one with what they are made of (joined_slices.h).
//
// On a module with layouts, after `fusion`.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_MOVEMENT_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_MOVEMENT_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class MovementFusionPass : public Pass {
 public:
  absl::string_view name() const override { return "movement-fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_MOVEMENT_FUSION_H_
