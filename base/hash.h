// Stable 64-bit hashes: the same bytes give the same value on every machine
// and in every run, unlike absl::Hash. For fingerprints, cache keys and ids.
//
//   Fingerprint f;
//   f.Add("dot").Add(int64_t{1024}).Add(other.value());
//   uint64_t key = f.value();
#ifndef PTXLA_BASE_HASH_H_
#define PTXLA_BASE_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ptxla {

// Mixes `value` into `seed` (the finaliser of splitmix64).
constexpr uint64_t HashCombine(uint64_t seed, uint64_t value) {
  uint64_t x =
      seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

uint64_t HashBytes(absl::string_view bytes, uint64_t seed = 0);

// "9f86d081884c7d65": 16 hexadecimal digits.
std::string HashToHex(uint64_t hash);

class Fingerprint {
 public:
  Fingerprint& Add(int64_t v) {
    value_ = HashCombine(value_, static_cast<uint64_t>(v));
    return *this;
  }
  Fingerprint& Add(absl::string_view text) {
    value_ = HashBytes(text, value_);
    return *this;
  }
  Fingerprint& Add(const char* text) { return Add(absl::string_view(text)); }
  Fingerprint& Add(absl::Span<const int64_t> list) {
    Add(static_cast<int64_t>(list.size()));
    for (int64_t v : list) Add(v);
    return *this;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x5a2d296e9;
};

}  // namespace ptxla

#endif  // PTXLA_BASE_HASH_H_
