// The parts of a layout that a module keeps as the text that it was read from,
// and their proto fields:
//
//   D(D,C+,S~)     dim_level_types, dim_unique, dim_ordered
//   SC(1:2,4)(0:8) split_configs: dimension 1 is cut at 2 and 4, 0 at 8
//   P(f32[8]{0})   physical_shape
#ifndef PTXLA_HLO_BACKEND_PROTO_LAYOUT_PARTS_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_LAYOUT_PARTS_PROTO_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/layout.h"
#include "hlo_backend/proto/shape.pb.h"

namespace ptxla::hlo {

// InvalidArgument names the text that is no such part.
absl::Status LayoutPartsToProto(const Layout& layout, proto::LayoutProto* out);
absl::Status LayoutPartsFromProto(const proto::LayoutProto& in, Layout* layout);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_LAYOUT_PARTS_PROTO_H_
