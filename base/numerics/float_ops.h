// The operations that recipes.h is written in, on single floats: what the
// bundle interpreter does to each word.
#ifndef PTXLA_BASE_NUMERICS_FLOAT_OPS_H_
#define PTXLA_BASE_NUMERICS_FLOAT_OPS_H_

#include <cmath>
#include <cstdint>

#include "base/numerics/bits.h"
#include "base/numerics/transcendental.h"

namespace ptxla::numerics {

struct FloatOps {
  using V = float;
  using M = bool;

  V Const(float x) const { return x; }
  V Add(V x, V y) const { return x + y; }
  V Sub(V x, V y) const { return x - y; }
  V Mul(V x, V y) const { return x * y; }
  V Max(V x, V y) const { return (x >= y || x != x) ? x : y; }
  V Min(V x, V y) const { return (x <= y || x != x) ? x : y; }
  V Round(V x) const {
    constexpr float kBig = 0x1p23f;
    const float a = std::fabs(x);
    return a < kBig ? std::copysign((a + kBig) - kBig, x) : x;
  }
  V And(V x, uint32_t bits) const { return FloatFromBits(FloatBits(x) & bits); }
  V Or(V x, V y) const { return FloatFromBits(FloatBits(x) | FloatBits(y)); }
  V Xor(V x, V y) const { return FloatFromBits(FloatBits(x) ^ FloatBits(y)); }
  V Exp2(V x) const { return numerics::Exp2(x); }
  V Log2(V x) const { return numerics::Log2(x); }
  V Rcp(V x) const { return numerics::Rcp(x); }
  V Rsqrt(V x) const { return numerics::Rsqrt(x); }
  V Tanh(V x) const { return numerics::Tanh(x); }
  V Erf(V x) const { return numerics::Erf(x); }
  V Sin(V x) const { return numerics::Sin(x); }
  V Cos(V x) const { return numerics::Cos(x); }
  M Less(V x, V y) const { return x < y; }
  M Equal(V x, V y) const { return x == y; }
  M NotEqual(V x, V y) const { return x != y; }
  M Weird(V x) const { return !(x - x == 0); }
  M Or(M x, M y) const { return x || y; }
  M And(M x, M y) const { return x && y; }
  V Select(M m, V if_set, V if_not) const { return m ? if_set : if_not; }
};

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_FLOAT_OPS_H_
