// Why lowering does not take an instruction: Unimplemented, with its name.
//
//   return Unsupported(i, "rows of 3 tiles");   // "add.1 (add): rows of ..."
//   return NotLowered(i, "a batch of groups");  // "%dot.2: a batch of groups
//                                               //  is not lowered"
#ifndef PTXLA_HLO_BACKEND_LOWERING_REFUSALS_H_
#define PTXLA_HLO_BACKEND_LOWERING_REFUSALS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

// What of a fusion or of its operands has no code here.
inline absl::Status Unsupported(const hlo::Instruction& i,
                                absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(i.name(), " (", hlo::OpcodeName(i.opcode()), "): ", why));
}

// What form a product or convolution has that no kernel takes.
inline absl::Status NotLowered(const hlo::Instruction& i,
                               absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("%", i.name(), ": ", what, " is not lowered"));
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_REFUSALS_H_
