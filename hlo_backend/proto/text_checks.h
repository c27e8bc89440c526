// Whether what a proto holds may stand in the text of a module as it is: names
// and words without quotes, and pairs of braces. Internal; module_proto.h is
// the way in.
//
//   ReadableName("gradients/add")                    // "gradients_add"
//   RETURN_IF_ERROR(CheckWord(in.execution_thread(), "execution thread"));
//
// Checks give InvalidArgument, with `what` and the text that is none.
#ifndef PTXLA_HLO_BACKEND_PROTO_TEXT_CHECKS_H_
#define PTXLA_HLO_BACKEND_PROTO_TEXT_CHECKS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ptxla::hlo {

// Names with characters that no text has ("gradients/add", "body$1") get
// underscores there, as XLA gives them.
std::string ReadableName(const std::string& name);

// Text that may stand without quotes: one pair of braces.
bool IsInBraces(const std::string& text);

// What stands in the text as it is must be readable there. Empty: it is not.
absl::Status CheckWord(const std::string& word, absl::string_view what);
// The key of `key="value"`.
absl::Status CheckKey(const std::string& key, absl::string_view what);
absl::Status CheckBraced(const std::string& text, absl::string_view what);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PROTO_TEXT_CHECKS_H_
