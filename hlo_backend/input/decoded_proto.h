// A program in one of the binary protos, which do not say which they are.
//
//   Decoded d = Decode(bytes);   // d.format == FileFormat::kHloProto
#ifndef PTXLA_HLO_BACKEND_INPUT_DECODED_PROTO_H_
#define PTXLA_HLO_BACKEND_INPUT_DECODED_PROTO_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "hlo_backend/input/file_format.h"
#include "hlo_backend/proto/module_proto.h"

namespace ptxla::hlo {

struct Decoded {
  FileFormat format = FileFormat::kUnknown;
  proto::HloModuleProto module;
  std::vector<proto::LiteralProto> arguments;  // of a snapshot
};

// The message that has instructions where it should; kUnknown if none has.
Decoded Decode(absl::string_view bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_INPUT_DECODED_PROTO_H_
