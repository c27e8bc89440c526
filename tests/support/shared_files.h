// Files that tests read where they are there: programs, measurements and tables
// in ../shared, which lies beside the checkout, or beside the folder that holds
// several checkouts, and is no part of it.
//
//   const auto csv = SharedPath("measured/kernels_open.csv");
//   if (!csv.ok()) GTEST_SKIP() << csv.status();
#ifndef PTXLA_TESTS_SUPPORT_SHARED_FILES_H_
#define PTXLA_TESTS_SUPPORT_SHARED_FILES_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace ptxla::testing {

// Of a file or folder of ../shared; NotFound where it does not lie there.
inline absl::StatusOr<std::string> SharedPath(const std::string& path) {
  for (const char* up : {"/../shared/", "/../../shared/"}) {
    const std::string found = absl::StrCat(PTXLA_SOURCE_DIR, up, path);
    if (std::filesystem::exists(found)) return found;
  }
  return absl::NotFoundError(
      absl::StrCat("no shared/", path, " beside the checkout"));
}

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_SUPPORT_SHARED_FILES_H_
