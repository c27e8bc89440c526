#include "base/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace ptxla {
namespace {

absl::Status FileError(absl::string_view what, const std::string& path) {
  const int error = errno;
  const std::string message =
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message)
                         : absl::InvalidArgumentError(message);
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return FileError("read", path);
  std::string contents;
  char buffer[1 << 16];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof(buffer), file)) > 0) {
    contents.append(buffer, n);
  }
  const bool failed = std::ferror(file) != 0;
  absl::Status error = failed ? FileError("read", path) : absl::OkStatus();
  if (file != stdin) std::fclose(file);
  if (failed) return error;
  return contents;
}

absl::Status CheckWritable(const std::string& path) {
  const auto no = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write ", path, ": ", reason));
  };
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return no("it is a directory");
    if (access(path.c_str(), W_OK) != 0) return no(std::strerror(errno));
    return absl::OkStatus();
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  if (stat(folder.c_str(), &info) != 0) {
    return no(absl::StrCat(folder, ": ", std::strerror(errno)));
  }
  if (!S_ISDIR(info.st_mode)) {
    return no(absl::StrCat(folder, " is not a directory"));
  }
  if (access(folder.c_str(), W_OK) != 0) {
    return no(absl::StrCat(folder, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, absl::string_view contents) {
  const std::string temporary = absl::StrCat(path, ".tmp", getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) return FileError("write", path);
  const bool written =
      std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    absl::Status error = FileError("write", path);
    std::remove(temporary.c_str());
    return error;
  }
  return absl::OkStatus();
}

}  // namespace ptxla
