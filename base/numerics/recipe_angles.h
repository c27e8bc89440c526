// What is left of an angle after whole quarter turns, for angles of any size:
// the fraction of |x| / 2 pi from 96 bits of 1 / 2 pi at the place that x's
// exponent asks for (Payne and Hanek's reduction), as the TPU compiler makes
// sines and cosines.
//
//   const auto angle = ReduceAngle(ops, absolute);   // of |x|, any finite
//   // |x| = angle.quadrant * pi / 2 + angle.rest (mod 2 pi), |rest| <= pi / 4
//
// `Ops` is that of recipes.h. Every step before the last product is exact in
// integers, whatever a chip multiplies with (Ops::MultiplyBy96).
#ifndef PTXLA_BASE_NUMERICS_RECIPE_ANGLES_H_
#define PTXLA_BASE_NUMERICS_RECIPE_ANGLES_H_

#include <array>
#include <cstdint>

namespace ptxla::numerics {

template <class Ops>
struct ReducedAngle {
  typename Ops::V rest;      // a float
  typename Ops::V quadrant;  // an integer, 0 to 4
};

template <class Ops>
ReducedAngle<Ops> ReduceAngle(Ops& o, typename Ops::V a) {
  using V = typename Ops::V;
  using M = typename Ops::M;
  // 1 / 2 pi, behind the point.
  constexpr std::array<uint32_t, 6> kTurn = {
      0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410};
  // a = mantissa 2^(e - 32): the product with 1 / 2 pi wants its bits from
  // e - 32 on, those before it count whole turns.
  const V e = o.MaxBits(o.AddBits(o.ShiftRight(a, 23), -126), 0);
  const V word = o.ShiftRight(e, 5);
  const V left = o.And(e, 31);
  const V right = o.SubBits(32u, left);
  std::array<V, 6> piece;
  piece[0] = o.ShiftRight(kTurn[0], right);
  for (int j = 1; j < 6; ++j) {
    piece[j] =
        o.Or(o.ShiftLeft(kTurn[j - 1], left), o.ShiftRight(kTurn[j], right));
  }
  std::array<M, 4> below;  // word < k + 1
  for (int k = 0; k < 4; ++k) below[k] = o.LessBits(word, k + 1);
  std::array<V, 3> window;
  for (int j = 0; j < 3; ++j) {
    V bits =
        o.Select(below[3], piece[j + 3 > 5 ? 5 : j + 3], o.Bits(kTurn[j + 3]));
    for (int k = 2; k >= 0; --k) bits = o.Select(below[k], piece[j + k], bits);
    window[j] = bits;
  }
  const V mantissa = o.ShiftLeft(o.OrBits(o.And(a, 0x7fffff), 0x800000), 8);
  // The fraction of a turn in 64 bits, and its nearest quarter.
  const auto [high, low] = o.MultiplyBy96(mantissa, window);
  const V quadrant = o.ShiftRight(o.AddBits(high, 1 << 29), 30);
  const V signed_rest = o.SubBits(high, o.ShiftLeft(quadrant, 30));
  // As many bits of it as a word holds.
  const V size = o.MaxBits(signed_rest, o.SubBits(0u, signed_rest));
  const V up = o.MaxBits(o.AddBits(o.LeadingZeros(size), -2), 0);
  const V bits =
      o.Or(o.ShiftLeft(signed_rest, up), o.ShiftRight(low, o.SubBits(32u, up)));
  // 2 pi 2^(-32 - up)
  const V scale = o.OrBits(o.ShiftLeft(o.SubBits(97u, up), 23), 0x490fdb);
  const V rest = o.Mul(o.ToFloat(bits), scale);
  const M small = o.Less(a, 0x1.921fb6p-1f);
  return {o.Select(small, a, rest), o.Select(small, o.Bits(0), quadrant)};
}

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_RECIPE_ANGLES_H_
