// How the TPU's compiler makes HLO's functions out of what the vector unit and
// the transcendental unit (EUP) have: written once over an abstract vector, so
// that lowering emits instructions with them and the evaluator's TPU mode
// computes the same numbers.
//
//   Recipes<EmitOps> r(ops, EupOfGeneration(5));
//   Vec y = r.Logistic(x);         // emits 2 VALU slots, one for the EUP
//
//   FloatOps ops;
//   float y = Recipes<FloatOps>(ops, EupOfGeneration(5)).Logistic(x);
//
// From v6e on the EUP's reciprocals need no Newton step and it has erf, sine
// and cosine. The number of operations follows the published schedules of the
// TPU compiler (tpu_slots.md section 4), VALU (an EUP operation included) +
// EUP: exp 2+1, log 2+1, tanh 1+1, log1p 9+1, division 2+1 (before v6e 14+1),
// rsqrt 1+1 (9+1), sqrt 7+1 (12+1), erf 1+1 (38+1), logistic 2+1 (before v5e
// 4+1), sine 96+2 (148, before v5e 192), power 41+2 (84+1). Those counts leave
// out the logic of masks, which has a slot of its own. Sines are in
// recipe_angles.h, powers in recipe_power.h.
//
// `Ops` has types V (a vector of 32-bit words) and M (a mask) and
//   V Const(float), Bits(uint32_t)
//   V Add(V, V|float), Sub(V, V), Mul(V, V|float), Max(V, float),
//     Min(V, float)
//   V And(V, uint32_t), Or(V, V), OrBits(V, uint32_t), Xor(V, V)
//   V AddBits(V, int32_t), SubBits(V|uint32_t, V), MaxBits(V, V|int32_t)
//   V ShiftLeft(V, int), ShiftLeft(V|uint32_t, V), ShiftRight alike (zeros
//     come in; 0 from 32 on), LeadingZeros(V)
//   V ToFloat(V), ToInteger(V)                 signed; toward zero, saturating
//   {V, V} MultiplyBy96(V, {V, V, V})          the upper 64 of 96 bits
//   V Exp2(V), Log2(V), Rcp(V), Rsqrt(V), Tanh(V), Sigmoid(V), Erf(V),
//     Sin(V), Cos(V)
//   M Less(V, float), Equal(V, V|float), NotEqual(V, V)
//   M LessBits(V, int32_t), AtLeastBits(V, int32_t), EqualBits(V, uint32_t)
//   M Weird(V)                                 infinite or NaN
//   M Or(M, M), And(M, M), Xor(M, M), Not(M)
//   V Select(M, V if_set, V if_not)
#ifndef PTXLA_BASE_NUMERICS_RECIPES_H_
#define PTXLA_BASE_NUMERICS_RECIPES_H_

#include <cstdint>
#include <limits>

#include "base/numerics/recipe_angles.h"
#include "base/numerics/recipe_power.h"
#include "base/numerics/transcendental.h"

namespace ptxla::numerics {

// What a chip's EUP can do alone.
struct EupFeatures {
  bool full_reciprocals = true;  // rcp and rsqrt need no Newton step
  bool has_sigmoid = true;
  bool has_erf = true;
  bool has_trigonometry = true;
};

// `generation`: 2 to 7 (v5e and v5p: 5).
inline EupFeatures EupOfGeneration(int generation) {
  const bool newer = generation >= 6;
  return {newer, generation >= 5, newer, newer};
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
    const V size = o_.And(x, 0x7fffffffu);
    const M weird = o_.Or(o_.Weird(x), o_.Weird(y));
    const V result = o_.Select(weird, y, better);
    // 2^126 and its reciprocal, which the step would round to a subnormal.
    const M edge = o_.Equal(size, 0x1p126f);
    const V sign = o_.And(x, 0x80000000u);
    return o_.Select(edge, o_.Or(sign, o_.Const(0x1p-126f)), result);
  }

  V Divide(V x, V y) { return o_.Mul(x, Rcp(y)); }

  V Rsqrt(V x) {
    const V y = o_.Rsqrt(x);
    if (eup_.full_reciprocals) return y;
    // Infinite or NaN. What is negative is -0, of which y is -infinite, or
    // makes y a NaN.
    const M weird = o_.Or(o_.Weird(x), o_.Weird(y));
    return o_.Select(weird, y, RsqrtStep(x, y));
  }

  V Sqrt(V x) {
    V y = o_.Rsqrt(x);
    if (!eup_.full_reciprocals) y = RsqrtStep(x, y);
    V root = o_.Mul(x, y);
    root = o_.Select(o_.Equal(x, kInfinity), x, root);
    return o_.Select(o_.Equal(x, 0.0f), o_.And(x, 0x80000000u), root);
  }

  // (1 + tanh(x / 2)) / 2. That the EUP takes half of x is ASSUMED: the TPU
  // compiler's schedules have one scaling and one EUP operation. The evaluator
  // has v5e's for earlier chips too, which differs by 2^-24 at most.
  V Logistic(V x) {
    const V half = o_.Mul(x, 0.5f);
    if (eup_.has_sigmoid) return o_.Sigmoid(half);
    return o_.Add(o_.Mul(o_.Tanh(half), 0.5f), 0.5f);
  }

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

  V Power(V x, V y) { return PowerOf(o_, eup_.full_reciprocals, x, y); }
  // y: finite, neither 0 nor 1.
  V Power(V x, Exponent y) { return PowerOf(o_, eup_.full_reciprocals, x, y); }

  // What the sine and the cosine of a number have in common: |x| and, of what
  // is left after whole quarter turns, both functions.
  struct Turned {
    V size, quadrant, sine, cosine;
  };
  Turned Turn(V x) {
    const V size = o_.And(x, 0x7fffffffu);
    const ReducedAngle<Ops> angle = ReduceAngle(o_, size);
    const V r = angle.rest;
    if (eup_.has_trigonometry) {
      return {size, angle.quadrant, o_.Sin(r), o_.Cos(r)};
    }
    const V square = o_.Mul(r, r);
    return {size, angle.quadrant, SineOf(r, square), CosineOf(square)};
  }
  V Sin(V x, const Turned& turned) {
    return o_.Xor(OfQuadrant(turned, turned.quadrant), o_.And(x, 0x80000000u));
  }
  V Cos(const Turned& turned) {
    return OfQuadrant(turned, o_.AddBits(turned.quadrant, 1));
  }
  V Sin(V x) { return Sin(x, Turn(x)); }
  V Cos(V x) { return Cos(Turn(x)); }

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
  V RsqrtStep(V x, V y) {
    const V t = o_.Mul(o_.Mul(o_.Mul(x, -0.5f), y), y);
    return o_.Mul(y, o_.Add(t, 1.5f));
  }

  V OfQuadrant(const Turned& turned, V quadrant) {
    const M odd = o_.EqualBits(o_.And(quadrant, 1), 1);
    const V value = o_.Select(odd, turned.cosine, turned.sine);
    const V sign = o_.ShiftLeft(o_.And(quadrant, 2), 30);
    return o_.Select(o_.Weird(turned.size),
                     o_.Const(std::numeric_limits<float>::quiet_NaN()),
                     o_.Xor(value, sign));
  }

  // For |r| <= pi / 4, s = r^2: relative errors below 4e-9 and 6e-11 before
  // rounding (fitted by weighted least squares).
  V SineOf(V r, V s) {
    V sum = o_.Add(o_.Mul(s, -0x1.99076cp-13f), 0x1.110630p-7f);
    sum = o_.Add(o_.Mul(sum, s), -0x1.555554p-3f);
    return o_.Add(o_.Mul(o_.Mul(sum, s), r), r);
  }
  V CosineOf(V s) {
    V sum = o_.Add(o_.Mul(s, 0x1.98e7dcp-16f), -0x1.6c06ecp-10f);
    sum = o_.Add(o_.Mul(sum, s), 0x1.555538p-5f);
    sum = o_.Add(o_.Mul(sum, s), -0.5f);
    return o_.Add(o_.Mul(sum, s), 1.0f);
  }

  Ops& o_;
  EupFeatures eup_;
};

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_RECIPES_H_
