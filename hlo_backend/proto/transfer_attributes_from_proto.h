// Attributes of collectives and of transfers to other devices, the host and
// other memories, from the fields of their protos. Internal; attribute_proto.h
// is the way in.
//
//   CollectiveAttrs a;                // channel_id=1, replica_groups={{0,1}}
//   RETURN_IF_ERROR(FromProto(in, &a));
#ifndef PTXLA_HLO_BACKEND_PROTO_TRANSFER_ATTRIBUTES_FROM_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_TRANSFER_ATTRIBUTES_FROM_PROTO_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

// Into structs that hold their defaults. InvalidArgument for shapes and groups
// that are none.
absl::Status FromProto(const proto::HloInstructionProto& in,
                       CollectiveAttrs* out);
// `operands` are those of the instruction: slices have as many sizes as the
// first has dimensions.
absl::Status FromProto(const proto::HloInstructionProto& in,
                       absl::Span<Instruction* const> operands,
                       PermuteAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in,
                       SendRecvAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in,
                       CopyStartAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in, InfeedAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in, OutfeedAttrs* out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_TRANSFER_ATTRIBUTES_FROM_PROTO_H_
