// x^y with the special cases of C's pow. The units of chips are asked for
// powers of positive finite numbers alone: each special case is an instruction
// or two, as in the TPU compiler's schedules.
//
//   V z = PowerOf(ops, eup.full_reciprocals, x, y);
//   V z = PowerOf(ops, eup.full_reciprocals, x, Exponent{2.3f});
//
// `Ops` is that of recipes.h. The relative error grows with |y log2 x| (2^-24
// times it).
#ifndef PTXLA_BASE_NUMERICS_RECIPE_POWER_H_
#define PTXLA_BASE_NUMERICS_RECIPE_POWER_H_

#include <cmath>
#include <cstdint>
#include <limits>

namespace ptxla::numerics {

// log2 of a positive finite number, by a polynomial in what its mantissa is
// more than 1 (from sqrt(1/2) to sqrt(2)), relative error below 3e-8 before
// rounding (fitted by weighted least squares).
template <class Ops>
typename Ops::V Log2Polynomial(Ops& o, typename Ops::V a) {
  using V = typename Ops::V;
  using M = typename Ops::M;
  constexpr float kP[] = {0x1.715476p+0f,  -0x1.715470p-1f, 0x1.ec73d6p-2f,
                          -0x1.715c4ep-2f, 0x1.26d384p-2f,  -0x1.e95beap-3f,
                          0x1.b9c920p-3f,  -0x1.a87cfap-3f, 0x1.01b6b6p-3f};
  const M subnormal = o.Less(a, 0x1p-126f);
  const V scaled = o.Select(subnormal, o.Mul(a, 0x1p24f), a);
  const V bias = o.Select(subnormal, o.Bits(127 + 24), o.Bits(127));
  const V exponent = o.SubBits(o.ShiftRight(scaled, 23), bias);
  const V mantissa = o.OrBits(o.And(scaled, 0x7fffff), 0x3f800000);
  const M low = o.Less(mantissa, 0x1.6a09e6p+0f);
  const V t = o.Add(o.Select(low, mantissa, o.Mul(mantissa, 0.5f)), -1.0f);
  const V whole = o.Select(low, exponent, o.AddBits(exponent, 1));
  // Even and odd powers side by side.
  const V square = o.Mul(t, t);
  V even = o.Add(o.Mul(square, kP[8]), kP[6]);
  V odd = o.Add(o.Mul(square, kP[7]), kP[5]);
  for (int k = 4; k >= 0; k -= 2) even = o.Add(o.Mul(even, square), kP[k]);
  for (int k = 3; k >= 1; k -= 2) odd = o.Add(o.Mul(odd, square), kP[k]);
  return o.Add(o.Mul(t, o.Add(o.Mul(odd, t), even)), o.ToFloat(whole));
}

struct Exponent {
  float value;
};

// `unit_logarithm`: the EUP's log2 is good enough.
template <class Ops>
typename Ops::V PowerOf(Ops& o, bool unit_logarithm, typename Ops::V x,
                        typename Ops::V y) {
  using V = typename Ops::V;
  using M = typename Ops::M;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const V nan = o.Const(std::numeric_limits<float>::quiet_NaN());
  const V infinity = o.Const(kInfinity);
  const V one = o.Const(1.0f);
  const V zero = o.Const(0.0f);
  const V a = o.And(x, 0x7fffffffu);
  const V b = o.And(y, 0x7fffffffu);
  const V log = unit_logarithm ? o.Log2(a) : Log2Polynomial(o, a);
  V power = o.Exp2(o.Mul(log, y));

  const M y_negative = o.Less(y, 0.0f);
  // From 2^24 on numbers are whole and even.
  const V integer = o.ToInteger(b);
  const M fits = o.Less(b, 0x1p24f);
  const M same = o.And(o.Equal(o.ToFloat(integer), b), fits);
  const M odd = o.And(o.EqualBits(o.And(integer, 1), 1), same);
  const M broken = o.Not(o.Or(same, o.Not(fits)));
  power = o.Select(o.And(o.Less(x, 0.0f), broken), nan, power);
  power =
      o.Select(o.Equal(x, 0.0f), o.Select(y_negative, infinity, zero), power);
  // Infinite exponents.
  const M grows = o.AtLeastBits(a, 0x3f800001);
  V far = o.Select(o.Xor(grows, y_negative), infinity, zero);
  far = o.Select(o.Equal(a, 1.0f), one, far);
  power = o.Select(o.Equal(b, kInfinity), far, power);
  // Infinite bases.
  power = o.Select(o.Equal(a, kInfinity), o.Select(y_negative, zero, infinity),
                   power);
  // Odd powers have the base's sign.
  power = o.Select(odd, o.Xor(power, o.And(x, 0x80000000u)), power);
  power = o.Select(o.Or(o.NotEqual(x, x), o.NotEqual(y, y)), nan, power);
  power = o.Select(o.Equal(y, 1.0f), x, power);
  return o.Select(o.Or(o.Equal(x, 1.0f), o.Equal(y, 0.0f)), one, power);
}

// The same for one finite exponent other than 0 and 1, which decides what most
// of the special cases are: the TPU compiler's code of x^2.3 has a third of the
// operations of x^y.
template <class Ops>
typename Ops::V PowerOf(Ops& o, bool unit_logarithm, typename Ops::V x,
                        Exponent exponent) {
  using V = typename Ops::V;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float y = exponent.value;
  const V a = o.And(x, 0x7fffffffu);
  const V log = unit_logarithm ? o.Log2(a) : Log2Polynomial(o, a);
  const V nan = o.Const(std::numeric_limits<float>::quiet_NaN());
  V power = o.Exp2(o.Mul(log, y));
  if (std::trunc(y) != y) power = o.Select(o.Less(x, 0.0f), nan, power);
  power = o.Select(o.Equal(x, 0.0f), o.Const(y < 0 ? kInfinity : 0.0f), power);
  power =
      o.Select(o.Equal(a, kInfinity), o.Const(y < 0 ? 0.0f : kInfinity), power);
  if (std::fabs(std::fmod(y, 2.0f)) == 1) {
    power = o.Xor(power, o.And(x, 0x80000000u));
  }
  return o.Select(o.NotEqual(x, x), nan, power);
}

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_RECIPE_POWER_H_
