// Which computations run as programs of their own: the entry, and the bodies,
// conditions and branches of control flow. Others are bodies of fusions,
// reduces, sorts and the like: part of an instruction.
#ifndef PTXLA_HLO_BACKEND_PASSES_CONTROL_FLOW_H_
#define PTXLA_HLO_BACKEND_PASSES_CONTROL_FLOW_H_

#include <vector>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

bool IsControlComputation(const Computation& computation);
// Callees before callers.
std::vector<Computation*> ControlComputations(const Module& module);

// A loop and a branch of its own for each that shares one: values inside of it
// have one place in memory, which two loops may not share. True if any was.
bool SeparateBodies(Module* module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_CONTROL_FLOW_H_
