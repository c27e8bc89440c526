// The fields of protos that Module and Instruction have no place for. Internal;
// module_proto.h is the way in.
#ifndef PTXLA_HLO_BACKEND_PROTO_KEPT_FIELDS_H_
#define PTXLA_HLO_BACKEND_PROTO_KEPT_FIELDS_H_

#include <string>

#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

// A message with those fields alone, unknown ones included, serialized; ""
// where there are none. Parsed into an empty message, they are there again.
std::string KeptFields(const proto::HloInstructionProto& in);
std::string KeptFields(const proto::HloModuleProto& in);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_KEPT_FIELDS_H_
