// Metadata, stack frames, statistics and original values between Module's
// classes and their protos.
#ifndef PTXLA_HLO_BACKEND_PROTO_METADATA_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_METADATA_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/metadata.h"
#include "hlo_backend/proto/hlo.pb.h"
#include "hlo_backend/proto/metadata.pb.h"

namespace ptxla::hlo {

void ToProto(const Metadata& metadata, proto::OpMetadata* out);
Metadata FromProto(const proto::OpMetadata& in);

void ToProto(const StackFrameTables& tables, proto::StackFrameIndexProto* out);
StackFrameTables FromProto(const proto::StackFrameIndexProto& in);

// "{visualizing_index=0,flops=1.5}". InvalidArgument for another text.
absl::Status StatisticsToProto(const std::string& text,
                               proto::StatisticsViz* out);
std::string StatisticsFromProto(const proto::StatisticsViz& in);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_METADATA_PROTO_H_
