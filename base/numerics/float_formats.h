// The narrow number formats of XLA and TPUs, and their conversion to and from
// float. Every conversion rounds to nearest, ties to even, and is the same on
// every machine.
//
//   Bfloat16 b(1.001f);             // rounds
//   float x = b;                    // exact
//   uint16_t raw = b.bits;
//   float y = DecodeFloat(kF8E4M3Fn, 0x7e);          // 448
//   uint32_t z = EncodeFloat(kF8E5M2, 1e9f);         // infinity: 0x7c
//
// Overflow follows ml_dtypes, which XLA and JAX use: to infinity where the
// format has one, else to NaN, else (no NaN either) to the largest number.
#ifndef PTXLA_BASE_NUMERICS_FLOAT_FORMATS_H_
#define PTXLA_BASE_NUMERICS_FLOAT_FORMATS_H_

#include <cstdint>

#include "base/numerics/bits.h"

namespace ptxla::numerics {

// What the codes at the top of a format's range mean.
enum class SpecialValues {
  kIeee,            // infinities, and many NaNs
  kNanOnly,         // "fn": no infinity; all ones is NaN, with either sign
  kNanIsMinusZero,  // "fnuz": no infinity, no -0; its code is the only NaN
  kNone,            // finite numbers only (f4e2m1fn, f6e2m3fn, f6e3m2fn)
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  SpecialValues special;
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

inline constexpr FloatFormat kBf16 = {8, 7, 127, SpecialValues::kIeee};
inline constexpr FloatFormat kF16 = {5, 10, 15, SpecialValues::kIeee};
inline constexpr FloatFormat kF8E5M2 = {5, 2, 15, SpecialValues::kIeee};
inline constexpr FloatFormat kF8E4M3 = {4, 3, 7, SpecialValues::kIeee};
inline constexpr FloatFormat kF8E3M4 = {3, 4, 3, SpecialValues::kIeee};
inline constexpr FloatFormat kF8E4M3Fn = {4, 3, 7, SpecialValues::kNanOnly};
inline constexpr FloatFormat kF8E4M3B11Fnuz = {4, 3, 11,
                                               SpecialValues::kNanIsMinusZero};
inline constexpr FloatFormat kF8E5M2Fnuz = {5, 2, 16,
                                            SpecialValues::kNanIsMinusZero};
inline constexpr FloatFormat kF8E4M3Fnuz = {4, 3, 8,
                                            SpecialValues::kNanIsMinusZero};
inline constexpr FloatFormat kF4E2M1Fn = {2, 1, 1, SpecialValues::kNone};
inline constexpr FloatFormat kF6E2M3Fn = {2, 3, 1, SpecialValues::kNone};
inline constexpr FloatFormat kF6E3M2Fn = {3, 2, 3, SpecialValues::kNone};

// The value of the low `format.bits()` bits of `code`. Exact.
float DecodeFloat(const FloatFormat& format, uint32_t code);

// The code nearest to `value`. The double form rounds once, not twice.
uint32_t EncodeFloat(const FloatFormat& format, float value);
uint32_t EncodeFloat(const FloatFormat& format, double value);

// `value` rounded to a float with this many exponent and mantissa bits, as
// HLO's reduce-precision does: IEEE rules, subnormals flushed to a signed
// zero, overflow to infinity.
float ReducePrecision(float value, int exponent_bits, int mantissa_bits);
double ReducePrecision(double value, int exponent_bits, int mantissa_bits);

inline float DecodeBf16(uint16_t code) {
  return FloatFromBits(static_cast<uint32_t>(code) << 16);
}
inline uint16_t EncodeBf16(float value) {
  const uint32_t bits = FloatBits(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);  // stays a NaN
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
// `value` rounded to bf16: what the MXU does with an f32 operand.
inline float RoundToBf16(float value) { return DecodeBf16(EncodeBf16(value)); }

float DecodeF16(uint16_t code);
uint16_t EncodeF16(float value);

// f8e8m0fnu: 2^(code - 127), no sign, no zero; 0xff is NaN.
float DecodeF8E8M0(uint8_t code);
uint8_t EncodeF8E8M0(float value);

// A number of `kFormat` in `Storage`, which holds it right-aligned.
// Arithmetic is that of float: convert, compute, convert back.
template <const FloatFormat& kFormat, class Storage>
struct SmallFloat {
  SmallFloat() = default;
  explicit SmallFloat(float value)
      : bits(static_cast<Storage>(EncodeFloat(kFormat, value))) {}
  explicit SmallFloat(double value)
      : bits(static_cast<Storage>(EncodeFloat(kFormat, value))) {}
  operator float() const { return DecodeFloat(kFormat, bits); }  // NOLINT
  static SmallFloat FromBits(uint32_t code) {
    SmallFloat result;
    result.bits = static_cast<Storage>(code);
    return result;
  }
  Storage bits = 0;
};

struct Bfloat16 {
  Bfloat16() = default;
  explicit Bfloat16(float value) : bits(EncodeBf16(value)) {}
  explicit Bfloat16(double value)
      : bits(static_cast<uint16_t>(EncodeFloat(kBf16, value))) {}
  operator float() const { return DecodeBf16(bits); }  // NOLINT
  static Bfloat16 FromBits(uint32_t code) {
    Bfloat16 result;
    result.bits = static_cast<uint16_t>(code);
    return result;
  }
  uint16_t bits = 0;
};

struct Half {
  Half() = default;
  explicit Half(float value) : bits(EncodeF16(value)) {}
  explicit Half(double value)
      : bits(static_cast<uint16_t>(EncodeFloat(kF16, value))) {}
  operator float() const { return DecodeF16(bits); }  // NOLINT
  static Half FromBits(uint32_t code) {
    Half result;
    result.bits = static_cast<uint16_t>(code);
    return result;
  }
  uint16_t bits = 0;
};

using F8E5M2 = SmallFloat<kF8E5M2, uint8_t>;
using F8E4M3 = SmallFloat<kF8E4M3, uint8_t>;
using F8E3M4 = SmallFloat<kF8E3M4, uint8_t>;
using F8E4M3Fn = SmallFloat<kF8E4M3Fn, uint8_t>;
using F8E4M3B11Fnuz = SmallFloat<kF8E4M3B11Fnuz, uint8_t>;
using F8E5M2Fnuz = SmallFloat<kF8E5M2Fnuz, uint8_t>;
using F8E4M3Fnuz = SmallFloat<kF8E4M3Fnuz, uint8_t>;
using F4E2M1Fn = SmallFloat<kF4E2M1Fn, uint8_t>;
using F6E2M3Fn = SmallFloat<kF6E2M3Fn, uint8_t>;
using F6E3M2Fn = SmallFloat<kF6E3M2Fn, uint8_t>;

// Two's complement and unsigned integers of 1, 2 and 4 bits, one per byte.
template <int kBits>
inline int8_t WrapSigned(int64_t value) {
  const uint32_t low = static_cast<uint32_t>(value) << (32 - kBits);
  return static_cast<int8_t>(static_cast<int32_t>(low) >> (32 - kBits));
}
template <int kBits>
inline uint8_t WrapUnsigned(uint64_t value) {
  return static_cast<uint8_t>(value & ((1u << kBits) - 1));
}

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_FLOAT_FORMATS_H_
