// Attributes without which an instruction means nothing. Internal to the
// parser.
#ifndef PTXLA_HLO_BACKEND_IR_REQUIRED_ATTRIBUTES_H_
#define PTXLA_HLO_BACKEND_IR_REQUIRED_ATTRIBUTES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::hlo {

absl::Span<const absl::string_view> RequiredAttributes(Opcode opcode);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_REQUIRED_ATTRIBUTES_H_
