// Text protos with errors that a user can act on:
//   "v5e.chip.textproto:12:3: Message type "ptxla.ChipProto" has no field ..."
#ifndef PTXLA_BASE_TEXT_PROTO_H_
#define PTXLA_BASE_TEXT_PROTO_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"

namespace ptxla {

// `name` is what error messages call the text. InvalidArgument on any error,
// unknown fields included.
absl::Status ParseTextProto(absl::string_view text, absl::string_view name,
                            google::protobuf::Message* message);

// Deterministic multi-line text.
std::string PrintTextProto(const google::protobuf::Message& message);

}  // namespace ptxla

#endif  // PTXLA_BASE_TEXT_PROTO_H_
