#include "driver/dump.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files.h"

namespace ptxla::driver {

absl::StatusOr<DumpWriter> DumpWriter::Create(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot make the folder ", folder,
        " for --dump-to: ", error ? error.message() : "a file has this name"));
  }
  DumpWriter writer;
  writer.folder_ = folder;
  return writer;
}

absl::Status DumpWriter::Write(absl::string_view name, absl::string_view text) {
  if (!enabled()) return absl::OkStatus();
  std::string clean(name);
  for (char& c : clean) {
    if (!absl::ascii_isalnum(c) && c != '.' && c != '-' && c != '_') c = '_';
  }
  return WriteFile(
      absl::StrCat(folder_, "/", absl::StrFormat("%03d", next_++), ".", clean),
      text);
}

}  // namespace ptxla::driver
