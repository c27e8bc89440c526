// Finds an output for every buffer that the caller gives away: a donated
// parameter shares its memory with an output of the same shape and layout,
// first with one that the same instruction writes which reads it last (an
// optimizer update), else with the first that is free. Writes the header's
// input_output_alias; donors without an output stay donors.
#ifndef PTXLA_HLO_BACKEND_PASSES_ALIAS_ASSIGNMENT_H_
#define PTXLA_HLO_BACKEND_PASSES_ALIAS_ASSIGNMENT_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class AliasAssignmentPass : public Pass {
 public:
  absl::string_view name() const override { return "alias-assignment"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_ALIAS_ASSIGNMENT_H_
