// How the TPU's compiler makes HLO's functions out of what the vector unit and
// the transcendental unit (EUP) have: written once over an abstract vector, so
// that lowering emits instructions with them and the evaluator's TPU mode
// computes the same numbers.
//
//   Recipes<EmitOps> r(ops, EupOfGeneration(5));
//   Vec y = r.Logistic(x);         // emits 16 VALU and 2 EUP instructions
//
//   FloatOps ops;
//   float y = Recipes<FloatOps>(ops, EupOfGeneration(5)).Logistic(x);
//
// From v6e on the EUP's reciprocals need no Newton step and it has erf, sine
// and cosine. The number of operations follows the published schedules of the
// TPU compiler (tpu_slots.md section 4), VALU (an EUP operation included) +
// EUP: exp 2+1, log 2+1, tanh 1+1, log1p 9+1, division 2+1 (before v6e 14+1),
// rsqrt 1+1 (9+1), sqrt 7+1 (12+1), erf 1+1 (38+1), logistic 4+2 (16+2). Those
// counts leave out And and Or of masks.
//
// `Ops` has types V (a vector of f32) and M (a mask) and
//   V Const(float)
//   V Add(V, V|float), Sub(V, V), Mul(V, V|float), Max(V, float),
//     Min(V, float), Round(V)                  nearest, ties to even
//   V And(V, uint32_t), Or(V, V), Xor(V, V)    on the bits
//   V Exp2(V), Log2(V), Rcp(V), Rsqrt(V), Tanh(V), Erf(V), Sin(V), Cos(V)
//   M Less(V, float), Equal(V, V|float), NotEqual(V, V), Or(M, M), And(M, M)
//   M Weird(V)                                 infinite or NaN
//   V Select(M, V if_set, V if_not)
#ifndef PTXLA_BASE_NUMERICS_RECIPES_H_
#define PTXLA_BASE_NUMERICS_RECIPES_H_

#include <cstdint>
#include <limits>

#include "base/numerics/transcendental.h"

namespace ptxla::numerics {

// What a chip's EUP can do alone.
struct EupFeatures {
  bool full_reciprocals = true;  // rcp and rsqrt need no Newton step
  bool has_erf = true;
  bool has_trigonometry = true;
};

// `generation`: 2 to 7 (v5e and v5p: 5).
inline EupFeatures EupOfGeneration(int generation) {
  const bool newer = generation >= 6;
  return {newer, newer, newer};
}

template <class Ops>
class Recipes {
 public:
  using V = typename Ops::V;
  using M = typename Ops::M;

  Recipes(Ops& ops, const EupFeatures& eup) : o_(ops), eup_(eup) {}

  V Exp(V x) { return o_.Exp2(o_.Mul(x, kLog2E)); }
  V ExpOfNegated(V x) { return o_.Exp2(o_.Mul(x, -kLog2E)); }
  V Log(V x) { return o_.Mul(o_.Log2(x), kLn2); }
  V Tanh(V x) { return o_.Tanh(x); }

  // Below the threshold two terms of the series: 1 + x would lose x's bits.
  V Log1p(V x) {
    const V series = o_.Mul(x, o_.Add(o_.Mul(x, -0.5f), 1.0f));
    const V large = Log(o_.Add(x, 1.0f));
    return o_.Select(IsSmall(x), series, large);
  }

  V Expm1(V x) {
    const V e = Exp(x);
    if (eup_.full_reciprocals) {
      // exp(x) - 1 = tanh(x / 2) (exp(x) + 1)
      return o_.Mul(o_.Tanh(o_.Mul(x, 0.5f)), o_.Add(e, 1.0f));
    }
    const V series = o_.Mul(x, o_.Add(o_.Mul(x, 0.5f), 1.0f));
    return o_.Select(IsSmall(x), series, o_.Add(e, -1.0f));
  }

  V Rcp(V x) {
    const V y = o_.Rcp(x);
    if (eup_.full_reciprocals) return y;
    const V error = o_.Sub(o_.Const(1.0f), o_.Mul(x, y));
    const V better = o_.Add(o_.Mul(error, y), y);
    const V result = o_.Select(o_.Or(IsWeird(x), IsWeird(y)), y, better);
    // 2^126 and its reciprocal, which the step would round to a subnormal.
    const M edge = o_.Equal(o_.And(x, 0x7fffffffu), 0x1p126f);
    const V sign = o_.And(x, 0x80000000u);
    return o_.Select(edge, o_.Or(sign, o_.Const(0x1p-126f)), result);
  }

  V Divide(V x, V y) { return o_.Mul(x, Rcp(y)); }

  V Rsqrt(V x) {
    const V y = o_.Rsqrt(x);
    if (eup_.full_reciprocals) return y;
    return o_.Select(o_.Or(IsWeird(x), IsWeird(y)), y, RsqrtStep(x, y));
  }

  V Sqrt(V x) {
    V y = o_.Rsqrt(x);
    if (!eup_.full_reciprocals) y = RsqrtStep(x, y);
    V root = o_.Mul(x, y);
    root = o_.Select(o_.Equal(x, kInfinity), x, root);
    return o_.Select(o_.Equal(x, 0.0f), o_.And(x, 0x80000000u), root);
  }

  V Logistic(V x) { return Rcp(o_.Add(o_.Exp2(o_.Mul(x, -kLog2E)), 1.0f)); }

  // x P(x^2) / Q(x^2) on [-4, 4], relative error below 7e-8 before rounding
  // (fitted by weighted least squares); beyond, erf rounds to 1.
  V Erf(V x) {
    if (eup_.has_erf) return o_.Erf(x);
    constexpr float kP[] = {0x1.20dd74p+0f, 0x1.a8240cp-3f,  0x1.a61024p-5f,
                            0x1.0571fcp-8f, 0x1.34cbdep-13f, -0x1.04a458p-19f,
                            0x1.4844eep-26f};
    constexpr float kQ[] = {1.0f, 0x1.08a30ap-1f, 0x1.e32a2cp-4f,
                            0x1.ea11d4p-7f, 0x1.0b9706p-10f};
    const V a = o_.Min(o_.Max(x, -4.0f), 4.0f);
    const V square = o_.Mul(a, a);
    V p = o_.Add(o_.Mul(square, kP[6]), kP[5]);
    for (int i = 4; i >= 0; --i) p = o_.Add(o_.Mul(p, square), kP[i]);
    V q = o_.Add(o_.Mul(square, kQ[4]), kQ[3]);
    for (int i = 2; i >= 0; --i) q = o_.Add(o_.Mul(q, square), kQ[i]);
    return Divide(o_.Mul(p, a), q);
  }

  // 2^(y log2 |x|), and the special cases of C's pow. The relative error grows
  // with |y log2 x| (2^-24 times it).
  V Power(V x, V y) {
    const V a = o_.And(x, 0x7fffffffu);
    V power = o_.Exp2(o_.Mul(y, o_.Log2(a)));
    const V one = o_.Const(1.0f);
    power = o_.Select(o_.Equal(a, 1.0f), one, power);
    const V half = o_.Mul(y, 0.5f);
    const M odd =
        o_.And(o_.Equal(o_.Round(y), y), o_.NotEqual(o_.Round(half), half));
    // A negative base: the sign of odd powers, NaN for broken ones.
    const V sign = o_.And(x, 0x80000000u);
    const V signed_power = o_.Select(odd, o_.Xor(power, sign), power);
    const M negative =
        o_.And(o_.Less(x, 0.0f), o_.NotEqual(a, o_.Const(kInfinity)));
    const M broken = o_.And(negative, o_.NotEqual(o_.Round(y), y));
    const V checked =
        o_.Select(broken, o_.Const(std::numeric_limits<float>::quiet_NaN()),
                  signed_power);
    const M whole = o_.Or(o_.Equal(y, 0.0f), o_.Equal(x, 1.0f));
    return o_.Select(whole, one, checked);
  }

  V Sin(V x) { return SinOrCos(x, 0.0f); }
  V Cos(V x) { return SinOrCos(x, 1.0f); }

  // 2^(log2 |x| / 3) and a Newton step, with x's sign.
  V Cbrt(V x) {
    const V a = o_.And(x, 0x7fffffffu);
    const V y = o_.Exp2(o_.Mul(o_.Log2(a), 1.0f / 3));
    const V square = o_.Mul(y, y);
    const V step =
        o_.Mul(o_.Sub(o_.Mul(square, y), a), Rcp(o_.Mul(square, -3.0f)));
    const V better = o_.Add(y, step);
    const V root =
        o_.Select(o_.Or(o_.Equal(a, 0.0f), o_.Equal(a, kInfinity)), a, better);
    return o_.Or(root, o_.And(x, 0x80000000u));
  }

 private:
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  M IsSmall(V x) { return o_.Less(o_.And(x, 0x7fffffffu), 0x1p-8f); }
  // Infinite or NaN: x - x is not 0.
  M IsWeird(V x) { return o_.Weird(x); }

  V RsqrtStep(V x, V y) {
    const V t = o_.Mul(o_.Mul(o_.Mul(x, -0.5f), y), y);
    return o_.Mul(y, o_.Add(t, 1.5f));
  }

  // sin(x + shift pi/2). The multiple of pi/2 is taken off in three parts, of
  // which the first two have few bits: good to |x| about 10^5.
  V SinOrCos(V x, float shift) {
    const V k = o_.Round(o_.Mul(x, 0x1.45f306p-1f));
    V r = o_.Sub(x, o_.Mul(k, 0x1.92p+0f));
    r = o_.Sub(r, o_.Mul(k, 0x1.fb4p-12f));
    r = o_.Sub(r, o_.Mul(k, 0x1.4442d2p-24f));
    // The quadrant is k + shift mod 4, as a float in {0, 1, 2, 3}.
    const V q = shift == 0 ? k : o_.Add(k, shift);
    const V quarter = o_.Mul(q, 0.25f);
    const V floor = o_.Round(o_.Add(quarter, -0.375f));
    const V quadrant = o_.Sub(q, o_.Mul(floor, 4.0f));
    const V sine = eup_.has_trigonometry ? o_.Sin(r) : SinePolynomial(r);
    const V cosine = eup_.has_trigonometry ? o_.Cos(r) : CosinePolynomial(r);
    const M odd = o_.Or(o_.Equal(quadrant, 1.0f), o_.Equal(quadrant, 3.0f));
    const V value = o_.Select(odd, cosine, sine);
    const M upper = o_.Less(quadrant, 2.0f);
    return o_.Select(upper, value, o_.Mul(value, -1.0f));
  }

  V SinePolynomial(V r) {  // Taylor, |r| <= pi/4
    const V s = o_.Mul(r, r);
    V sum = o_.Add(o_.Mul(s, 1.0f / 362880), -1.0f / 5040);
    sum = o_.Add(o_.Mul(sum, s), 1.0f / 120);
    sum = o_.Add(o_.Mul(sum, s), -1.0f / 6);
    return o_.Add(o_.Mul(o_.Mul(sum, s), r), r);
  }
  V CosinePolynomial(V r) {
    const V s = o_.Mul(r, r);
    V sum = o_.Add(o_.Mul(s, -1.0f / 3628800), 1.0f / 40320);
    sum = o_.Add(o_.Mul(sum, s), -1.0f / 720);
    sum = o_.Add(o_.Mul(sum, s), 1.0f / 24);
    sum = o_.Add(o_.Mul(sum, s), -0.5f);
    return o_.Add(o_.Mul(sum, s), 1.0f);
  }

  Ops& o_;
  EupFeatures eup_;
};

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_RECIPES_H_
