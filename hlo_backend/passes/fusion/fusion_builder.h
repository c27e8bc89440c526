// Turns the members of one kernel into a fusion instruction.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_BUILDER_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_BUILDER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hlo_backend/passes/fusion/fusion_chains.h"

namespace ptxla::hlo {

// A kernel whose members have been found.
struct FusionPlan {
  std::vector<Instruction*> group;  // members, and clones of what they need
  FusionKind kind = FusionKind::kLoop;
  std::string name;
  std::shared_ptr<const Metadata> metadata;
};

// `members` are placed instructions, operands first. What they need that is
// not placed (FusionNode) is cloned for the kernel, and the members take the
// clones. Nothing if one member stays as it is, because it needs nothing of
// the kind.
std::optional<FusionPlan> PlanFusion(Computation* computation,
                                     const FusionChains& chains,
                                     const std::vector<Instruction*>& members,
                                     FusionKind kind);

// Makes the instruction. All kernels of a computation must have been planned
// and dead instructions removed: a dead user of a member would make it a result
// of its kernel.
void BuildFusion(Computation* computation, const FusionPlan& plan);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_BUILDER_H_
