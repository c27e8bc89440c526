#include "base/numerics/float_formats.h"

#include <cmath>

namespace ptxla::numerics {
namespace {

// `value * 2^exponent` rounded to an integer, ties to even, for a positive
// `significand` of at most 53 bits.
uint64_t ShiftRightRounded(uint64_t significand, int shift) {
  if (shift <= 0) return significand << -shift;
  if (shift > 63) return 0;
  const uint64_t half = 1ull << (shift - 1);
  const uint64_t rest = significand & ((half << 1) - 1);
  uint64_t result = significand >> shift;
  if (rest > half || (rest == half && (result & 1))) ++result;
  return result;
}

uint32_t NanCode(const FloatFormat& f, uint32_t sign) {
  const uint32_t all = (1u << (f.bits() - 1)) - 1;
  switch (f.special) {
    case SpecialValues::kIeee: {
      const uint32_t infinity = ((1u << f.exponent_bits) - 1)
                                << f.mantissa_bits;
      return sign | infinity | (1u << (f.mantissa_bits - 1));
    }
    case SpecialValues::kNanOnly:
      return sign | all;
    case SpecialValues::kNanIsMinusZero:
      return 1u << (f.bits() - 1);
    case SpecialValues::kNone:
      // ml_dtypes: NaN becomes negative zero where nothing else is left.
      return 1u << (f.bits() - 1);
  }
  return 0;
}

uint32_t OverflowCode(const FloatFormat& f, uint32_t sign) {
  switch (f.special) {
    case SpecialValues::kIeee:
      return sign | (((1u << f.exponent_bits) - 1) << f.mantissa_bits);
    case SpecialValues::kNone:
      return sign | ((1u << (f.bits() - 1)) - 1);
    default:
      return NanCode(f, sign);
  }
}

// The largest code (without sign) that is a finite number.
uint32_t LargestFinite(const FloatFormat& f) {
  const uint32_t all = (1u << (f.bits() - 1)) - 1;
  switch (f.special) {
    case SpecialValues::kIeee:
      return (((1u << f.exponent_bits) - 1) << f.mantissa_bits) - 1;
    case SpecialValues::kNanOnly:
      return all - 1;
    default:
      return all;
  }
}

// ReducePrecision on the bits of a float or double.
template <class Bits, int kExponentBits, int kMantissaBits>
Bits ReduceBits(Bits bits, int exponent_bits, int mantissa_bits) {
  constexpr Bits kSign = Bits{1} << (kExponentBits + kMantissaBits);
  constexpr Bits kInfinity = ((Bits{1} << kExponentBits) - 1) << kMantissaBits;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const Bits sign = bits & kSign;
  const Bits magnitude = bits ^ sign;
  if (magnitude > kInfinity) {
    // A NaN must not round to infinity; without mantissa there is no NaN.
    return mantissa_bits > 0 ? bits : sign | kInfinity;
  }
  if (magnitude == kInfinity) return bits;
  Bits rounded = magnitude;
  if (mantissa_bits < kMantissaBits) {
    const int drop = kMantissaBits - mantissa_bits;
    const Bits half_minus_one = (Bits{1} << (drop - 1)) - 1;
    rounded += half_minus_one + ((rounded >> drop) & 1);
    rounded &= ~((Bits{1} << drop) - 1);
  }
  if (exponent_bits < kExponentBits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(rounded >> kMantissaBits) - kBias;
    if (exponent > bias) return sign | kInfinity;
    if (exponent < 1 - bias) return sign;
  }
  return sign | rounded;
}

}  // namespace

float DecodeFloat(const FloatFormat& f, uint32_t code) {
  const uint32_t sign = (code >> (f.bits() - 1)) & 1u;
  const uint32_t magnitude = code & ((1u << (f.bits() - 1)) - 1);
  const uint32_t sign_bit = sign << 31;
  if (f.special == SpecialValues::kNanIsMinusZero && sign && magnitude == 0) {
    return FloatFromBits(0xffc00000u);
  }
  if (magnitude > LargestFinite(f)) {
    const bool infinity =
        f.special == SpecialValues::kIeee && magnitude == LargestFinite(f) + 1;
    return FloatFromBits(sign_bit | (infinity ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t exponent = magnitude >> f.mantissa_bits;
  const uint32_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  if (exponent == 0) {
    const float value =
        std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
    return sign ? -value : value;
  }
  const uint32_t exponent32 = exponent - f.bias + 127;
  return FloatFromBits(sign_bit | (exponent32 << 23) |
                       (mantissa << (23 - f.mantissa_bits)));
}

uint32_t EncodeFloat(const FloatFormat& f, float value) {
  return EncodeFloat(f, static_cast<double>(value));
}

uint32_t EncodeFloat(const FloatFormat& f, double value) {
  const uint64_t bits = BitCast<uint64_t>(value);
  const uint32_t sign = (bits >> 63) ? 1u << (f.bits() - 1) : 0;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((1ull << 52) - 1);
  if (exponent == 0x7ff) {
    return fraction ? NanCode(f, sign) : OverflowCode(f, sign);
  }
  const bool no_minus_zero = f.special == SpecialValues::kNanIsMinusZero;
  if (exponent == 0) return no_minus_zero ? 0 : sign;  // below every format
  const uint64_t significand = fraction | (1ull << 52);
  // The value is significand * 2^(exponent - 1075).
  const int unbiased = exponent - 1023;
  const int lowest = 1 - f.bias;  // of a normal number
  const int shift =
      52 - f.mantissa_bits + (unbiased < lowest ? lowest - unbiased : 0);
  uint64_t code = ShiftRightRounded(significand, shift);
  if (unbiased >= lowest) {
    // Rounding up to the next power of two carries into the exponent.
    code += static_cast<uint64_t>(unbiased + f.bias - 1) << f.mantissa_bits;
  }
  if (code > LargestFinite(f)) return OverflowCode(f, sign);
  if (code == 0 && no_minus_zero) return 0;
  return sign | static_cast<uint32_t>(code);
}

float ReducePrecision(float value, int exponent_bits, int mantissa_bits) {
  return FloatFromBits(ReduceBits<uint32_t, 8, 23>(
      FloatBits(value), exponent_bits, mantissa_bits));
}

double ReducePrecision(double value, int exponent_bits, int mantissa_bits) {
  return BitCast<double>(ReduceBits<uint64_t, 11, 52>(
      BitCast<uint64_t>(value), exponent_bits, mantissa_bits));
}

float DecodeF16(uint16_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x8000u) << 16;
  const uint32_t exponent = (code >> 10) & 0x1fu;
  const uint32_t mantissa = code & 0x3ffu;
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  if (exponent == 31) return FloatFromBits(sign | 0x7f800000u | mantissa << 13);
  return FloatFromBits(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t EncodeF16(float value) {
  const uint32_t bits = FloatBits(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  // From 2^-14 to below 65520: a normal number of f16, even after rounding.
  if (magnitude - 0x38800000u < 0x477ff000u - 0x38800000u) {
    const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    return static_cast<uint16_t>(((bits >> 16) & 0x8000u) |
                                 ((rounded >> 13) - (112u << 10)));
  }
  return static_cast<uint16_t>(EncodeFloat(kF16, value));
}

float DecodeF8E8M0(uint8_t code) {
  if (code == 0xff) return FloatFromBits(0x7fc00000u);
  if (code == 0) return FloatFromBits(0x00400000u);  // 2^-127
  return FloatFromBits(static_cast<uint32_t>(code) << 23);
}

uint8_t EncodeF8E8M0(float value) {
  const uint32_t bits = FloatBits(value);
  // Zero and negative numbers have no code.
  if (bits == 0 || bits >= 0x7f800000u) return 0xff;
  uint32_t exponent = bits >> 23;
  const uint32_t mantissa = bits & 0x7fffffu;
  if (exponent == 0) return mantissa > 0x600000u ? 1 : 0;
  if (mantissa > 0x400000u || (mantissa == 0x400000u && (exponent & 1))) {
    ++exponent;
  }
  return static_cast<uint8_t>(exponent >= 0xff ? 0xff : exponent);
}

}  // namespace ptxla::numerics
