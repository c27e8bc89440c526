// Shapes and layouts between Module's classes and their protos.
//
// From protos: InvalidArgument for what no shape can be (unknown type,
// negative size, a layout that is no permutation). A layout without any
// content, as XLA gives scalars, is none.
#ifndef PTXLA_HLO_BACKEND_PROTO_SHAPE_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_SHAPE_PROTO_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/proto/shape.pb.h"

namespace ptxla::hlo {

// Parts of layouts that are kept as text: layout_parts_proto.h.
absl::Status ToProto(const Shape& shape, proto::ShapeProto* out);
absl::StatusOr<Shape> FromProto(const proto::ShapeProto& in);

absl::Status ToProto(const ProgramShape& shape, proto::ProgramShapeProto* out);
absl::StatusOr<ProgramShape> FromProto(const proto::ProgramShapeProto& in);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_SHAPE_PROTO_H_
