// EmitMovement: instructions that move data and compute nothing.
#include "absl/strings/str_cat.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

absl::StatusOr<isa::Kernel> EmitMovement(const KernelContext& /*context*/,
                                         const hlo::Instruction& i) {
  return absl::UnimplementedError(absl::StrCat(
      "%", i.name(), " (", hlo::OpcodeName(i.opcode()), ") is not lowered"));
}

}  // namespace ptxla::lowering
