// What passes that write operations as others have in common.
//
//   return ExpandEach(module, [](Instruction* i) { return Expander(i).Expand();
//   });
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_EXPAND_EACH_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_EXPAND_EACH_H_

#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Asks `expand` for every instruction of the module, operands first, and puts
// what it returns in its place; null: it stays. True: something changed.
bool ExpandEach(Module* module,
                absl::FunctionRef<Instruction*(Instruction*)> expand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_EXPAND_EACH_H_
