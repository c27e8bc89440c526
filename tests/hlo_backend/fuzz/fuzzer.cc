// One reader under libFuzzer: PTXLA_FUZZED names the function of readers.h.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/hlo_backend/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ptxla::hlo::Reading reading = ptxla::hlo::PTXLA_FUZZED(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!reading.broken.empty()) {
    std::fprintf(stderr, "%s\n", reading.broken.c_str());
    std::abort();
  }
  return 0;
}
