// Windows, dimension numbers and precisions to and from their protos. Internal;
// module_proto.h is the way in.
#ifndef PTXLA_HLO_BACKEND_PROTO_DIMENSION_NUMBERS_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_DIMENSION_NUMBERS_PROTO_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/product_attributes.h"
#include "hlo_backend/ir/window.h"
#include "hlo_backend/proto/attributes.pb.h"
#include "hlo_backend/proto/enum_proto.h"

namespace ptxla::hlo {

Window FromProto(const proto::Window& in);
ConvDims FromProto(const proto::ConvolutionDimensionNumbers& in);
// The dimensions of each of the three arrays are numbered once each.
absl::Status CheckConvDims(const ConvDims& dims);
// Those of a custom call may leave numbers out, but are numbers of dimensions.
absl::Status CheckSmallNumbers(const ConvDims& dims);
absl::Status FromProto(const proto::PrecisionConfig& in, PrecisionConfig* out);
void FromProto(const proto::DotDimensionNumbers& in, DotAttrs* out);

void ToProto(const Window& window, proto::Window* out);
void ToProto(const ConvDims& d, proto::ConvolutionDimensionNumbers* out);
void ToProto(const PrecisionConfig& p, proto::PrecisionConfig* out);
void ToProto(const DotAttrs& a, proto::DotDimensionNumbers* out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_DIMENSION_NUMBERS_PROTO_H_
