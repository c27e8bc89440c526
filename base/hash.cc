#include "base/hash.h"

#include <cstring>

#include "absl/strings/str_format.h"

namespace ptxla {

uint64_t HashBytes(absl::string_view bytes, uint64_t seed) {
  uint64_t h = HashCombine(seed, bytes.size());
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    h = HashCombine(h, word);
  }
  uint64_t tail = 0;
  if (i < bytes.size()) {
    std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
    h = HashCombine(h, tail);
  }
  return h;
}

std::string HashToHex(uint64_t hash) { return absl::StrFormat("%016x", hash); }

}  // namespace ptxla
