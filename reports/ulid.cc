#include "reports/ulid.h"

#include <random>

namespace ptxla::reports {

std::string Ulid(int64_t unix_ms, uint16_t high, uint64_t low) {
  constexpr char kDigits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  std::string text(26, '0');
  auto time = static_cast<uint64_t>(unix_ms) & 0xffffffffffffull;
  for (int i = 9; i >= 0; --i, time >>= 5) text[i] = kDigits[time & 31];
  for (int i = 25; i >= 10; --i) {
    text[i] = kDigits[low & 31];
    low = (low >> 5) | (static_cast<uint64_t>(high & 31) << 59);
    high >>= 5;
  }
  return text;
}

std::string NewUlid(int64_t unix_ms) {
  std::random_device random;
  const uint64_t low = (static_cast<uint64_t>(random()) << 32) | random();
  return Ulid(unix_ms, static_cast<uint16_t>(random()), low);
}

}  // namespace ptxla::reports
