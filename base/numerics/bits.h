// Reading the bits of a number (C++20's std::bit_cast, in C++17).
#ifndef PTXLA_BASE_NUMERICS_BITS_H_
#define PTXLA_BASE_NUMERICS_BITS_H_

#include <cstdint>
#include <cstring>

namespace ptxla::numerics {

template <class To, class From>
inline To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline uint32_t FloatBits(float x) { return BitCast<uint32_t>(x); }
inline float FloatFromBits(uint32_t bits) { return BitCast<float>(bits); }

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_BITS_H_
