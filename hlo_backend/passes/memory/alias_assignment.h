// Finds an output for every buffer that the caller gives away, as XLA does: of
// each size in bytes, with padding, the first output that has no memory of the
// caller's yet lies in the first such parameter, whatever their shapes are.
// Writes the header's input_output_alias; donors without an output stay donors.
//
//   buffer_donor={ (0, {}), (1, {}) }, (f32[8,128], f32[128,8]) -> (f32[8,128])
//   ==> input_output_alias={ {0}: (0, {}, may-alias) }, buffer_donor={ (1, {})
//   }
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_ALIAS_ASSIGNMENT_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_ALIAS_ASSIGNMENT_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class AliasAssignmentPass : public Pass {
 public:
  absl::string_view name() const override { return "alias-assignment"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_ALIAS_ASSIGNMENT_H_
