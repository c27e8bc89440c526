#include "driver/dump.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/files.h"

namespace ptxla::driver {
namespace {

// "041.SyncTensorsGraph.12.trace.textproto".
bool IsStage(absl::string_view name) {
  const size_t digits = name.find_first_not_of("0123456789");
  if (digits == absl::string_view::npos || digits < 3 || name[digits] != '.') {
    return false;
  }
  for (const char* end : {".hlo", ".lazy", ".tpuasm", ".textproto"}) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<DumpWriter> DumpWriter::Create(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot make the folder ", folder,
        " for --dump-to: ", error ? error.message() : "a file has this name"));
  }
  std::vector<std::filesystem::path> earlier;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (IsStage(file.path().filename().string())) {
      earlier.push_back(file.path());
    }
  }
  for (const std::filesystem::path& file : earlier) {
    if (!error) std::filesystem::remove(file, error);
  }
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot clear the folder ", folder,
                     " of an earlier --dump-to: ", error.message()));
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
