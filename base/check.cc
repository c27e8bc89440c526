#include "base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace ptxla::internal {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  message_ << file << ":" << line << ": CHECK(" << condition << ") failed: ";
}

CheckFailure::~CheckFailure() {
  const std::string text = message_.str();
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ptxla::internal
