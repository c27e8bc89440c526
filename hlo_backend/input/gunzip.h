// The content of a gzip file.
#ifndef PTXLA_HLO_BACKEND_INPUT_GUNZIP_H_
#define PTXLA_HLO_BACKEND_INPUT_GUNZIP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla::hlo {

bool IsGzip(absl::string_view bytes);
// All members of the file. InvalidArgument for broken ones, and for content of
// more than 4 GiB.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_INPUT_GUNZIP_H_
