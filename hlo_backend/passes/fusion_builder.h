// Turns the members of one kernel into a fusion instruction.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_BUILDER_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_BUILDER_H_

#include <vector>

#include "hlo_backend/passes/fusion_chains.h"

namespace ptxla::hlo {

// `members` are placed instructions, operands first. What they need that is
// not placed (FusionNode) is cloned into the kernel. One member that needs
// nothing of the kind stays as it is: false.
bool BuildFusion(Computation* computation, const FusionChains& chains,
                 const std::vector<Instruction*>& members, FusionKind kind);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_BUILDER_H_
