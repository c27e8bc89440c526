// The attributes of one instruction between Module's structs and the fields of
// HloInstructionProto. Internal; module_proto.h is the way in.
#ifndef PTXLA_HLO_BACKEND_PROTO_ATTRIBUTE_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_ATTRIBUTE_PROTO_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

absl::Status AttributesToProto(const Instruction& instruction,
                               proto::HloInstructionProto* out);

// Sets the struct that `opcode` carries. `operands` are those of the
// instruction.
absl::Status AttributesFromProto(const proto::HloInstructionProto& in,
                                 Opcode opcode,
                                 absl::Span<Instruction* const> operands,
                                 Attributes* attributes);

// `origin={({"a"}, {"b" {0}})}` and its proto. InvalidArgument for another
// text.
absl::Status OriginToProto(const std::string& text,
                           proto::OriginalValueProto* out);
std::string OriginFromProto(const proto::OriginalValueProto& in,
                            const Shape& shape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_ATTRIBUTE_PROTO_H_
