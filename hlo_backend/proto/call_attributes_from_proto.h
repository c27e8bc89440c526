// Attributes of what calls: other computations (call, fusion, async) or foreign
// code (custom-call), from the fields of their protos. Internal;
// attribute_proto.h is the way in.
//
//   FusionAttrs a;                            // kind=kLoop
//   RETURN_IF_ERROR(FromProto(in, &a));
#ifndef PTXLA_HLO_BACKEND_PROTO_CALL_ATTRIBUTES_FROM_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_CALL_ATTRIBUTES_FROM_PROTO_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

// Into structs that hold their defaults. InvalidArgument for numbers and names
// that are not known.
absl::Status FromProto(const proto::HloInstructionProto& in, AsyncAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in, FusionAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in, CallAttrs* out);
absl::Status FromProto(const proto::HloInstructionProto& in,
                       CustomCallAttrs* out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_CALL_ATTRIBUTES_FROM_PROTO_H_
