// Whole files as strings. Errors name the path, what was tried and the reason
// that the system gave.
#ifndef PTXLA_BASE_FILES_H_
#define PTXLA_BASE_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla {

// "-" reads standard input. NotFound or InvalidArgument on failure.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Whether WriteFile could: an error before hours of work, not after them.
absl::Status CheckWritable(const std::string& path);

// Writes beside `path` and renames: a reader never sees half a file.
absl::Status WriteFile(const std::string& path, absl::string_view contents);

}  // namespace ptxla

#endif  // PTXLA_BASE_FILES_H_
