// Constant values between Literal and LiteralProto.
//
// A proto holds its values in the order of its shape's layout, a Literal in
// row-major order; both ways reorder. A proto without values of a shape that
// has some is an elided literal (XLA writes none; ours come from
// `constant({...})`).
#ifndef PTXLA_HLO_BACKEND_PROTO_LITERAL_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_LITERAL_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/proto/shape.pb.h"

namespace ptxla::hlo {

absl::Status ToProto(const Literal& literal, proto::LiteralProto* out);
// InvalidArgument if the number of values is not that of the shape.
absl::StatusOr<Literal> FromProto(const proto::LiteralProto& in);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_LITERAL_PROTO_H_
