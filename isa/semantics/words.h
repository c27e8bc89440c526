// Loops over the 1024 words of vector registers, shared by the semantics files.
#ifndef PTXLA_ISA_SEMANTICS_WORDS_H_
#define PTXLA_ISA_SEMANTICS_WORDS_H_

#include <cstdint>

#include "base/numerics/bits.h"
#include "base/numerics/float_formats.h"
#include "isa/semantics/context.h"

namespace ptxla::isa::semantics {

using numerics::DecodeBf16;
using numerics::EncodeBf16;
using numerics::FloatBits;
using numerics::FloatFromBits;

inline int32_t Signed(uint32_t x) { return static_cast<int32_t>(x); }

// dst = f(a) on words.
template <class F>
void MapWords(const Words& a, Words* d, F f) {
  for (int w = 0; w < kVregWords; ++w) (*d)[w] = f(a[w]);
}

// dst = f(a, b) on words; b may be a constant.
template <class F>
void MapWords(ExecContext& c, const Instr& i, Words* d, F f) {
  const Words& a = c.V(i.a);
  if (i.b == kNoReg) {
    const uint32_t b = static_cast<uint32_t>(i.imm);
    for (int w = 0; w < kVregWords; ++w) (*d)[w] = f(a[w], b);
    return;
  }
  const Words& b = c.V(i.b);
  for (int w = 0; w < kVregWords; ++w) (*d)[w] = f(a[w], b[w]);
}

// Both 16-bit halves of a word by `f`.
template <class F>
uint32_t Halves(uint32_t a, F f) {
  const uint32_t lo = static_cast<uint16_t>(f(static_cast<uint16_t>(a)));
  const uint32_t hi = static_cast<uint16_t>(f(static_cast<uint16_t>(a >> 16)));
  return lo | hi << 16;
}
template <class F>
uint32_t Halves(uint32_t a, uint32_t b, F f) {
  const uint32_t lo = static_cast<uint16_t>(
      f(static_cast<uint16_t>(a), static_cast<uint16_t>(b)));
  const uint32_t hi = static_cast<uint16_t>(
      f(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16)));
  return lo | hi << 16;
}

inline float MaxF32(float a, float b) {
  return a != a ? a : (b != b ? b : (a > b ? a : b));
}
inline float MinF32(float a, float b) {
  return a != a ? a : (b != b ? b : (a < b ? a : b));
}

inline int WordAt(int sublane, int lane) { return sublane * kLanes + lane; }

// 16-bit row `row` (0-15), lane `lane` of a packed register.
inline uint16_t Row16(const Words& a, int row, int lane) {
  return static_cast<uint16_t>(a[WordAt(row / 2, lane)] >> (row % 2 * 16));
}
// 8-bit row `row` (0-31).
inline uint8_t Row8(const Words& a, int row, int lane) {
  return static_cast<uint8_t>(a[WordAt(row / 4, lane)] >> (row % 4 * 8));
}

}  // namespace ptxla::isa::semantics

#endif  // PTXLA_ISA_SEMANTICS_WORDS_H_
