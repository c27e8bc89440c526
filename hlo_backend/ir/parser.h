// HLO text to Module: the whole grammar of XLA's text format, and the older
// forms that files in use still have (operand shapes, `name {` headers,
// true_computation=, ...).
//
// Errors are InvalidArgument "12:7: expected a shape, got \"foo\"" (line and
// column, both 1-based); ParseModuleFile puts the path in front. Instructions
// keep their line for later messages. What parses is not yet valid: run
// VerifyModule (verifier.h). A missing result shape is inferred.
#ifndef PTXLA_HLO_BACKEND_IR_PARSER_H_
#define PTXLA_HLO_BACKEND_IR_PARSER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

absl::StatusOr<std::unique_ptr<Module>> ParseModule(
    absl::string_view text, absl::string_view file_name = "");

// "-" reads standard input.
absl::StatusOr<std::unique_ptr<Module>> ParseModuleFile(
    const std::string& path);

absl::StatusOr<Sharding> ParseSharding(absl::string_view text);
absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text);
absl::StatusOr<Window> ParseWindow(absl::string_view text);
absl::StatusOr<ConvDims> ParseConvDims(absl::string_view text);
// A literal with its shape in front: "f32[2] {1, 2}".
absl::StatusOr<Literal> ParseLiteral(absl::string_view text);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_PARSER_H_
