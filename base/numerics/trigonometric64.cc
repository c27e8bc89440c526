// Sine, cosine and tangent with exact argument reduction (Payne and Hanek):
// the product of the argument's 53-bit significand and 192 bits of 2/pi, taken
// modulo 4 in integers, leaves more than 60 correct bits for every double.
#include <cmath>
#include <cstdint>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental64.h"

namespace ptxla::numerics {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kNan = __builtin_nan("");

// 2/pi in binary, after 64 zero bits.
constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull,
    0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
    0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
    0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull,
    0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
};

// Bits [first, first + 64) of kTwoOverPi.
uint64_t Window(int first) {
  const int word = first / 64;
  const int bit = first % 64;
  if (bit == 0) return kTwoOverPi[word];
  return (kTwoOverPi[word] << bit) | (kTwoOverPi[word + 1] >> (64 - bit));
}

struct Reduced {
  int quadrant;  // 0 to 3
  double angle;  // in [-pi/4, pi/4]
};

// `x` is finite and not negative.
Reduced Reduce(double x) {
  if (x <= 0.785) return {0, x};
  const uint64_t bits = BitCast<uint64_t>(x);
  const uint64_t significand = (bits & ((1ull << 52) - 1)) | (1ull << 52);
  // x = significand * 2^exponent. Bit i of 2/pi (i = 1 is the first after the
  // point) weighs 2^(exponent - i) here; those with exponent - i >= 2 add
  // multiples of 4. Bit i is at 63 + i of the table.
  const int exponent = static_cast<int>(bits >> 52) - 1075;
  const int first = 63 + exponent - 1;
  using Wide = unsigned __int128;
  const Wide low = Wide{significand} * Window(first + 128);
  const Wide middle =
      Wide{significand} * Window(first + 64) + static_cast<uint64_t>(low >> 64);
  const uint64_t high =
      significand * Window(first) + static_cast<uint64_t>(middle >> 64);
  // The three words hold (x * 2/pi mod 4) * 2^190.
  int quadrant = static_cast<int>(high >> 62);
  uint64_t word[3] = {
      (high << 2) | (static_cast<uint64_t>(middle) >> 62),
      (static_cast<uint64_t>(middle) << 2) | (static_cast<uint64_t>(low) >> 62),
      static_cast<uint64_t>(low) << 2};
  const bool negative = word[0] >> 63;
  if (negative) {  // the fraction is above one half: count from the next
    quadrant = (quadrant + 1) & 3;
    for (uint64_t& w : word) w = ~w;
  }
  int scale = 0;
  while (word[0] == 0 && scale < 128) {
    word[0] = word[1];
    word[1] = word[2];
    word[2] = 0;
    scale += 64;
  }
  if (word[0] == 0) return {quadrant, 0.0};
  const int zeros = __builtin_clzll(word[0]);
  if (zeros > 0) word[0] = (word[0] << zeros) | (word[1] >> (64 - zeros));
  const double fraction =
      std::ldexp(static_cast<double>(word[0]), -64 - zeros - scale);
  const double angle = fraction * kHalfPi;
  return {quadrant, negative ? -angle : angle};
}

double SineKernel(double r) {
  constexpr double c[] = {-1.0 / 6,
                          1.0 / 120,
                          -1.0 / 5040,
                          1.0 / 362880,
                          -1.0 / 39916800,
                          1.0 / 6227020800.0,
                          -1.0 / 1307674368e3,
                          1.0 / 355687428096e3};
  const double s = r * r;
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * s + c[i];
  return r + r * s * sum;
}

double CosineKernel(double r) {
  constexpr double c[] = {1.0 / 24,
                          -1.0 / 720,
                          1.0 / 40320,
                          -1.0 / 3628800,
                          1.0 / 479001600,
                          -1.0 / 87178291200.0,
                          1.0 / 20922789888e3,
                          -1.0 / 6402373705728e3};
  const double s = r * r;
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * s + c[i];
  const double half = 0.5 * s;
  const double head = 1 - half;
  return head + ((1 - head - half) + s * s * sum);
}

// atan(k / 8)
constexpr double kAtanTable[] = {0x0.0p+0,
                                 0x1.fd5ba9aac2f6ep-4,
                                 0x1.f5b75f92c80ddp-3,
                                 0x1.6f61941e4def1p-2,
                                 0x1.dac670561bb4fp-2,
                                 0x1.1e00babdefeb4p-1,
                                 0x1.4978fa3269ee1p-1,
                                 0x1.700a7c5784634p-1,
                                 0x1.921fb54442d18p-1};

double AtanOfUnit(double x) {  // 0 <= x <= 1
  const int k = static_cast<int>(x * 8 + 0.5);
  const double center = k * 0.125;
  const double t = (x - center) / (1 + x * center);
  const double s = t * t;
  double sum = 0;
  for (int i = 8; i >= 1; --i)
    sum = sum * s + (i % 2 ? -1.0 : 1.0) / (2 * i + 1);
  return kAtanTable[k] + (t + t * s * sum);
}

}  // namespace

double Sin(double x) {
  if (!(std::fabs(x) < HUGE_VAL)) return kNan;
  if (x == 0) return x;
  const Reduced r = Reduce(std::fabs(x));
  const double value =
      r.quadrant & 1 ? CosineKernel(r.angle) : SineKernel(r.angle);
  return ((r.quadrant & 2) != 0) != (x < 0) ? -value : value;
}

double Cos(double x) {
  if (!(std::fabs(x) < HUGE_VAL)) return kNan;
  const Reduced r = Reduce(std::fabs(x));
  const double value =
      r.quadrant & 1 ? SineKernel(r.angle) : CosineKernel(r.angle);
  return r.quadrant == 1 || r.quadrant == 2 ? -value : value;
}

double Tan(double x) {
  if (!(std::fabs(x) < HUGE_VAL)) return kNan;
  if (x == 0) return x;
  const Reduced r = Reduce(std::fabs(x));
  const double sine = SineKernel(r.angle);
  const double cosine = CosineKernel(r.angle);
  const double value = r.quadrant & 1 ? -cosine / sine : sine / cosine;
  return x < 0 ? -value : value;
}

double Atan2(double y, double x) {
  if (x != x || y != y) return kNan;
  const double ax = std::fabs(x);
  const double ay = std::fabs(y);
  double angle;  // of (ax, ay), in [0, pi/2]
  if (ay == 0) {
    angle = 0;
  } else if (ax == HUGE_VAL) {
    angle = ay == HUGE_VAL ? kHalfPi / 2 : 0;
  } else if (ay == HUGE_VAL) {
    angle = kHalfPi;
  } else if (ay <= ax) {
    angle = AtanOfUnit(ay / ax);
  } else {
    constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
    angle = kHalfPi - (AtanOfUnit(ax / ay) - kHalfPiLow);
  }
  if (std::signbit(x)) {
    constexpr double kPiLow = 0x1.1a62633145c07p-53;
    angle = kPi - (angle - kPiLow);
  }
  return std::copysign(angle, y);
}

double Asin(double x) { return Atan2(x, std::sqrt((1 - x) * (1 + x))); }

double Acos(double x) { return Atan2(std::sqrt((1 - x) * (1 + x)), x); }

}  // namespace ptxla::numerics
