// The operations that recipes.h is written in, on single floats: what the
// bundle interpreter does to each word.
#ifndef PTXLA_BASE_NUMERICS_FLOAT_OPS_H_
#define PTXLA_BASE_NUMERICS_FLOAT_OPS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental.h"

namespace ptxla::numerics {

struct FloatOps {
  using V = float;
  using M = bool;

  V Const(float x) const { return x; }
  V Bits(uint32_t x) const { return FloatFromBits(x); }
  V Add(V x, V y) const { return x + y; }
  V Sub(V x, V y) const { return x - y; }
  V Mul(V x, V y) const { return x * y; }
  V Max(V x, V y) const { return (x >= y || x != x) ? x : y; }
  V Min(V x, V y) const { return (x <= y || x != x) ? x : y; }
  V And(V x, uint32_t bits) const { return FloatFromBits(FloatBits(x) & bits); }
  V Or(V x, V y) const { return FloatFromBits(FloatBits(x) | FloatBits(y)); }
  V Xor(V x, V y) const { return FloatFromBits(FloatBits(x) ^ FloatBits(y)); }
  V OrBits(V x, uint32_t bits) const {
    return FloatFromBits(FloatBits(x) | bits);
  }
  V AddBits(V x, int32_t n) const {
    return FloatFromBits(FloatBits(x) + static_cast<uint32_t>(n));
  }
  V SubBits(V x, V y) const {
    return FloatFromBits(FloatBits(x) - FloatBits(y));
  }
  V SubBits(uint32_t n, V y) const { return FloatFromBits(n - FloatBits(y)); }
  V MaxBits(V x, V y) const { return MaxBits(x, Signed(y)); }
  V MaxBits(V x, int32_t n) const {
    return FloatFromBits(static_cast<uint32_t>(std::max(Signed(x), n)));
  }
  V ShiftLeft(V x, int n) const { return FloatFromBits(FloatBits(x) << n); }
  V ShiftLeft(V x, V n) const { return ShiftLeft(FloatBits(x), n); }
  V ShiftLeft(uint32_t x, V n) const {
    const uint32_t by = FloatBits(n);
    return FloatFromBits(by < 32 ? x << by : 0);
  }
  V ShiftRight(V x, int n) const { return FloatFromBits(FloatBits(x) >> n); }
  V ShiftRight(V x, V n) const { return ShiftRight(FloatBits(x), n); }
  V ShiftRight(uint32_t x, V n) const {
    const uint32_t by = FloatBits(n);
    return FloatFromBits(by < 32 ? x >> by : 0);
  }
  V LeadingZeros(V x) const {
    const uint32_t bits = FloatBits(x);
    return FloatFromBits(bits == 0 ? 32 : __builtin_clz(bits));
  }
  V ToFloat(V x) const { return static_cast<float>(Signed(x)); }
  V ToInteger(V x) const {
    if (x != x) return Bits(0);
    if (x >= 0x1p31f) return Bits(0x7fffffff);
    if (x <= -0x1p31f) return Bits(0x80000000);
    return FloatFromBits(static_cast<uint32_t>(static_cast<int32_t>(x)));
  }
  std::pair<V, V> MultiplyBy96(V x, const std::array<V, 3>& w) const {
    const uint64_t m = FloatBits(x);
    const uint64_t sum = (m * FloatBits(w[2]) >> 32) + m * FloatBits(w[1]) +
                         (m * FloatBits(w[0]) << 32);
    return {FloatFromBits(static_cast<uint32_t>(sum >> 32)),
            FloatFromBits(static_cast<uint32_t>(sum))};
  }
  V Exp2(V x) const { return numerics::Exp2(x); }
  V Log2(V x) const { return numerics::Log2(x); }
  V Rcp(V x) const { return numerics::Rcp(x); }
  V Rsqrt(V x) const { return numerics::Rsqrt(x); }
  V Tanh(V x) const { return numerics::Tanh(x); }
  V Sigmoid(V x) const { return numerics::Sigmoid(x); }
  V Erf(V x) const { return numerics::Erf(x); }
  V Sin(V x) const { return numerics::Sin(x); }
  V Cos(V x) const { return numerics::Cos(x); }
  M Less(V x, V y) const { return x < y; }
  M Equal(V x, V y) const { return x == y; }
  M NotEqual(V x, V y) const { return x != y; }
  M LessBits(V x, int32_t n) const { return Signed(x) < n; }
  M EqualBits(V x, uint32_t bits) const { return FloatBits(x) == bits; }
  M AtLeastBits(V x, int32_t n) const { return Signed(x) >= n; }
  M Weird(V x) const { return !std::isfinite(x); }
  M Or(M x, M y) const { return x || y; }
  M And(M x, M y) const { return x && y; }
  M Xor(M x, M y) const { return x != y; }
  M Not(M x) const { return !x; }
  V Select(M m, V if_set, V if_not) const { return m ? if_set : if_not; }

 private:
  static int32_t Signed(V x) { return static_cast<int32_t>(FloatBits(x)); }
};

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_FLOAT_OPS_H_
