// Reading and writing plain zip archives (no zip64, no encryption): what .npz
// files are.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_ZIP_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_ZIP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla::hlo {

using ZipEntries = std::vector<std::pair<std::string, std::string>>;

// Entries in the order of the central directory. InvalidArgument for what is
// no zip archive or is damaged (checksums are verified).
absl::StatusOr<ZipEntries> ReadZip(absl::string_view bytes);
// Deflated, without time stamps: the same entries give the same bytes.
absl::StatusOr<std::string> WriteZip(const ZipEntries& entries);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_ZIP_H_
