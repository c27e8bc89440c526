// What stands in the first line of a module's text, and its stack frames, from
// the module's proto: schedule, aliases and donors, prefetches, devices, the
// entry's layout. Internal; module_proto.h is the way in.
//
//   auto module = std::make_unique<Module>(in.name());
//   RETURN_IF_ERROR(HeaderFromProto(in, module.get()));
#ifndef PTXLA_HLO_BACKEND_PROTO_HEADER_FROM_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_HEADER_FROM_PROTO_H_

#include "absl/status/status.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

// InvalidArgument for what no text can hold.
absl::Status HeaderFromProto(const proto::HloModuleProto& in, Module* module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_HEADER_FROM_PROTO_H_
