// Puts a copy wherever a value would have to lie in two places or overwrite one
// that is still read:
//
//  - an output that is a parameter, a constant, or another output too;
//  - an output that shares its memory with a parameter (input_output_alias)
//    while the parameter is read after the output is made. Reading in the
//    instruction that makes it is fine when both have the same shape there:
//    loops and products read a window before they write it.
//
// Runs on the schedule; copies go to its end.
#ifndef PTXLA_HLO_BACKEND_PASSES_COPY_INSERTION_H_
#define PTXLA_HLO_BACKEND_PASSES_COPY_INSERTION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CopyInsertionPass : public Pass {
 public:
  absl::string_view name() const override { return "copy-insertion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_COPY_INSERTION_H_
