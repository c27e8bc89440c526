// Modules to HloModuleProto and back: what `*.hlo.pb` dumps, torch_xla and
// PJRT hold. Field numbers are XLA's; either side reads the other's files.
//
//   ASSIGN_OR_RETURN(proto::HloModuleProto p, ToProto(module));
//   ASSIGN_OR_RETURN(auto again, FromProto(p));   // Print(*again) is the same
//
// Fields that Module has no place for (profiles, device assignment, fields of
// newer versions) stay with the module and its instructions as they were and
// are written back.
#ifndef PTXLA_HLO_BACKEND_PROTO_MODULE_PROTO_H_
#define PTXLA_HLO_BACKEND_PROTO_MODULE_PROTO_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/proto/hlo.pb.h"

namespace ptxla::hlo {

// Instruction ids are made anew, small and unique. Unimplemented, naming the
// instruction, for the few attributes that are kept as text (sparse layouts,
// sparsity_config).
absl::StatusOr<proto::HloModuleProto> ToProto(const Module& module);

// InvalidArgument names the instruction and what is wrong with it. What is
// read is not yet valid: run VerifyModule. `file_name` is for later messages.
absl::StatusOr<std::unique_ptr<Module>> FromProto(
    const proto::HloModuleProto& in, absl::string_view file_name = "");

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_MODULE_PROTO_H_
