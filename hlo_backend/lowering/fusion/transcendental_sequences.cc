// f32 functions by numerics::Recipes: the evaluator's TPU mode computes the
// same numbers from the same text.
#include <array>
#include <utility>

#include "base/numerics/bits.h"
#include "base/numerics/recipes.h"
#include "hlo_backend/lowering/fusion/turned_angles.h"
#include "hlo_backend/lowering/fusion/vector_math.h"
#include "hlo_backend/lowering/fusion/wide_multiply.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

namespace {

// What Recipes asks of a vector, as instructions.
class EmitOps {
 public:
  using V = Vec;
  using M = Mask;
  explicit EmitOps(CodeBuilder& b) : b_(b) {}

  V Const(float x) { return b_.SharedImm(numerics::FloatBits(x)); }
  V Bits(uint32_t x) { return b_.SharedImm(x); }
  V Add(V x, V y) { return b_.Binary(Opcode::kVaddF32, x, y); }
  V Add(V x, float y) { return b_.BinaryF(Opcode::kVaddF32, x, y); }
  V Sub(V x, V y) { return b_.Binary(Opcode::kVsubF32, x, y); }
  V Mul(V x, V y) { return b_.Binary(Opcode::kVmulF32, x, y); }
  V Mul(V x, float y) { return b_.BinaryF(Opcode::kVmulF32, x, y); }
  V Max(V x, float y) { return b_.BinaryF(Opcode::kVmaxF32, x, y); }
  V Min(V x, float y) { return b_.BinaryF(Opcode::kVminF32, x, y); }
  V And(V x, uint32_t bits) { return b_.BinaryImm(Opcode::kVand, x, bits); }
  V Or(V x, V y) { return b_.Binary(Opcode::kVor, x, y); }
  V Xor(V x, V y) { return b_.Binary(Opcode::kVxor, x, y); }
  V OrBits(V x, uint32_t bits) { return b_.BinaryImm(Opcode::kVor, x, bits); }
  V AddBits(V x, int32_t n) {
    return b_.BinaryImm(Opcode::kVaddS32, x, static_cast<uint32_t>(n));
  }
  V SubBits(V x, V y) { return b_.Binary(Opcode::kVsubS32, x, y); }
  V SubBits(uint32_t n, V y) { return SubBits(Bits(n), y); }
  V MaxBits(V x, V y) {
    return Select(b_.Compare(Opcode::kVcmpGtS32, x, y), x, y);
  }
  V MaxBits(V x, int32_t n) {
    return MaxBits(x, Bits(static_cast<uint32_t>(n)));
  }
  V ShiftLeft(V x, int n) { return b_.BinaryImm(Opcode::kVshll, x, n); }
  V ShiftLeft(V x, V n) { return b_.Binary(Opcode::kVshll, x, n); }
  V ShiftLeft(uint32_t x, V n) { return ShiftLeft(Bits(x), n); }
  V ShiftRight(V x, int n) { return b_.BinaryImm(Opcode::kVshrl, x, n); }
  V ShiftRight(V x, V n) { return b_.Binary(Opcode::kVshrl, x, n); }
  V ShiftRight(uint32_t x, V n) { return ShiftRight(Bits(x), n); }
  V LeadingZeros(V x) { return b_.Unary(Opcode::kVclz, x); }
  V ToFloat(V x) { return b_.Unary(Opcode::kVcvtF32S32, x); }
  V ToInteger(V x) { return b_.Unary(Opcode::kVcvtS32F32, x); }
  std::pair<V, V> MultiplyBy96(V x, const std::array<V, 3>& w) {
    return MultiplyWordBy96(b_, x, w);
  }
  V Exp2(V x) { return b_.Eup(Opcode::kVpow2F32, x); }
  V Log2(V x) { return b_.Eup(Opcode::kVlog2F32, x); }
  V Rcp(V x) { return b_.Eup(Opcode::kVrcpF32, x); }
  V Rsqrt(V x) { return b_.Eup(Opcode::kVrsqrtF32, x); }
  V Tanh(V x) { return b_.Eup(Opcode::kVtanhF32, x); }
  V Sigmoid(V x) { return b_.Eup(Opcode::kVsigmoidF32, x); }
  V Erf(V x) { return b_.Eup(Opcode::kVerfF32, x); }
  V Sin(V x) { return b_.Eup(Opcode::kVsinqF32, x); }
  V Cos(V x) { return b_.Eup(Opcode::kVcosqF32, x); }
  M Less(V x, float y) {
    return b_.CompareImm(Opcode::kVcmpLtF32, x, numerics::FloatBits(y));
  }
  M Equal(V x, float y) {
    return b_.CompareImm(Opcode::kVcmpEqF32, x, numerics::FloatBits(y));
  }
  M Equal(V x, V y) { return b_.Compare(Opcode::kVcmpEqF32, x, y); }
  M NotEqual(V x, V y) { return b_.Compare(Opcode::kVcmpNeF32, x, y); }
  M Or(M x, M y) { return b_.MaskBinary(Opcode::kVmor, x, y); }
  M And(M x, M y) { return b_.MaskBinary(Opcode::kVmand, x, y); }
  M LessBits(V x, int32_t n) {
    return b_.CompareImm(Opcode::kVcmpLtS32, x, static_cast<uint32_t>(n));
  }
  M EqualBits(V x, uint32_t bits) {
    return b_.CompareImm(Opcode::kVcmpEqS32, x, bits);
  }
  M AtLeastBits(V x, int32_t n) {
    return b_.CompareImm(Opcode::kVcmpGeS32, x, static_cast<uint32_t>(n));
  }
  M Weird(V x) { return b_.IsWeird(x); }
  M Xor(M x, M y) { return b_.MaskBinary(Opcode::kVmxor, x, y); }
  M Not(M x) { return b_.MaskNot(x); }
  V Select(M m, V if_set, V if_not) { return b_.Select(m, if_set, if_not); }

 private:
  CodeBuilder& b_;
};

numerics::EupFeatures FeaturesOf(const CodeBuilder& b) {
  const bool newer = isa::Supports(b.model(), Opcode::kVerfF32);
  return {newer, isa::Supports(b.model(), Opcode::kVsigmoidF32), newer,
          isa::Supports(b.model(), Opcode::kVsinqF32)};
}

template <class Fn>
Vec WithRecipes(CodeBuilder& b, Fn fn) {
  EmitOps ops(b);
  numerics::Recipes<EmitOps> recipes(ops, FeaturesOf(b));
  return fn(recipes);
}

}  // namespace

#define PTXLA_UNARY(name, recipe)                                \
  Vec name(CodeBuilder& b, Vec x) {                              \
    return WithRecipes(b, [&](auto& r) { return r.recipe(x); }); \
  }
PTXLA_UNARY(EmitReciprocal, Rcp)
PTXLA_UNARY(EmitRsqrt, Rsqrt)
PTXLA_UNARY(EmitSqrt, Sqrt)
PTXLA_UNARY(EmitExp, Exp)
PTXLA_UNARY(EmitExpOfNegated, ExpOfNegated)
PTXLA_UNARY(EmitExpm1, Expm1)
PTXLA_UNARY(EmitLog, Log)
PTXLA_UNARY(EmitLog1p, Log1p)
PTXLA_UNARY(EmitErf, Erf)
PTXLA_UNARY(EmitLogistic, Logistic)
PTXLA_UNARY(EmitSine, Sin)
PTXLA_UNARY(EmitCosine, Cos)
PTXLA_UNARY(EmitCbrt, Cbrt)
#undef PTXLA_UNARY

const TurnedAngles::Angle& TurnedAngles::Of(CodeBuilder& b, Vec x) {
  const auto [place, fresh] = angles_.try_emplace(x.id);
  Angle& angle = place->second;
  if (fresh) {
    WithRecipes(b, [&](auto& r) {
      const auto turned = r.Turn(x);
      angle = {turned.size, turned.quadrant, turned.sine, turned.cosine};
      return x;
    });
  }
  return angle;
}

Vec TurnedAngles::Sine(CodeBuilder& b, Vec x) {
  const Angle a = Of(b, x);
  return WithRecipes(b, [&](auto& r) {
    return r.Sin(x, {a.size, a.quadrant, a.sine, a.cosine});
  });
}

Vec TurnedAngles::Cosine(CodeBuilder& b, Vec x) {
  const Angle a = Of(b, x);
  return WithRecipes(b, [&](auto& r) {
    return r.Cos({a.size, a.quadrant, a.sine, a.cosine});
  });
}

Vec EmitPower(CodeBuilder& b, Vec x, Vec y) {
  return WithRecipes(b, [&](auto& r) { return r.Power(x, y); });
}

Vec EmitPower(CodeBuilder& b, Vec x, float y) {
  return WithRecipes(
      b, [&](auto& r) { return r.Power(x, numerics::Exponent{y}); });
}

Vec EmitFloor(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVfloorF32)) {
    return b.Unary(Opcode::kVfloorF32, x);
  }
  // Truncate by way of an integer; numbers from 2^23 on are whole already.
  const Vec t = b.Unary(Opcode::kVcvtF32S32, b.Unary(Opcode::kVcvtS32F32, x));
  const Mask above = b.Compare(Opcode::kVcmpGtF32, t, x);
  const Vec f = b.Binary(Opcode::kVsubF32, t, MaskToNumber(b, above, true));
  const Vec signed_f =
      b.Binary(Opcode::kVor, f, b.BinaryImm(Opcode::kVand, x, 0x80000000u));
  const Mask small =
      b.CompareImm(Opcode::kVcmpLtF32,
                   b.BinaryImm(Opcode::kVand, x, 0x7fffffffu), 0x4b000000u);
  return b.Select(small, signed_f, x);
}

Vec EmitCeil(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVceilF32)) {
    return b.Unary(Opcode::kVceilF32, x);
  }
  const auto turned = [&](Vec v) {
    return b.BinaryImm(Opcode::kVxor, v, 0x80000000u);
  };
  return turned(EmitFloor(b, turned(x)));
}

Vec EmitRoundNearestAfz(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVroundF32)) {
    return b.Unary(Opcode::kVroundF32, x);
  }
  // The largest float below a half: a half would carry what lies just below
  // one up to the next number.
  const Vec sign = b.BinaryImm(Opcode::kVand, x, 0x80000000u);
  const Vec size = b.BinaryImm(Opcode::kVand, x, 0x7fffffffu);
  const Vec up = b.BinaryF(Opcode::kVaddF32, size, 0x1.fffffep-2f);
  if (isa::Supports(b.model(), Opcode::kVfloorF32)) {
    return b.Binary(Opcode::kVor, b.Unary(Opcode::kVfloorF32, up), sign);
  }
  const Vec whole =
      b.Unary(Opcode::kVcvtF32S32, b.Unary(Opcode::kVcvtS32F32, up));
  const Mask small = b.CompareImm(Opcode::kVcmpLtF32, size, 0x4b000000u);
  return b.Select(small, b.Binary(Opcode::kVor, whole, sign), x);
}

Vec EmitRoundNearestEven(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVroundEvenF32)) {
    return b.Unary(Opcode::kVroundEvenF32, x);
  }
  // Beside 2^23 a float has no digits behind the point, and addition rounds
  // ties to even; numbers from there on are whole already.
  constexpr uint32_t kTwoTo23 = 0x4b000000u, kMinusTwoTo23 = 0xcb000000u;
  const Vec sign = b.BinaryImm(Opcode::kVand, x, 0x80000000u);
  const Vec size = b.BinaryImm(Opcode::kVand, x, 0x7fffffffu);
  const Vec whole =
      b.BinaryImm(Opcode::kVaddF32,
                  b.BinaryImm(Opcode::kVaddF32, size, kTwoTo23), kMinusTwoTo23);
  const Mask small = b.CompareImm(Opcode::kVcmpLtF32, size, kTwoTo23);
  return b.Select(small, b.Binary(Opcode::kVor, whole, sign), x);
}

Vec EmitReducePrecision(CodeBuilder& b, Vec x, int exponent_bits,
                        int mantissa_bits) {
  constexpr uint32_t kInfinity = 0x7f800000u;
  constexpr int kMantissaBits = 23, kExponentBits = 8, kBias = 127;
  const Vec sign = b.BinaryImm(Opcode::kVand, x, 0x80000000u);
  const Vec size = b.BinaryImm(Opcode::kVand, x, 0x7fffffffu);
  Vec rounded = size;
  if (mantissa_bits < kMantissaBits) {
    const int drop = kMantissaBits - mantissa_bits;
    const uint32_t half_minus_one = (1u << (drop - 1)) - 1;
    // Ties go to the even neighbour.
    const Vec odd = b.BinaryImm(
        Opcode::kVand,
        b.BinaryImm(Opcode::kVshrl, size, static_cast<uint32_t>(drop)), 1);
    rounded =
        b.Binary(Opcode::kVaddS32,
                 b.BinaryImm(Opcode::kVaddS32, size, half_minus_one), odd);
    rounded = b.BinaryImm(Opcode::kVand, rounded, ~((1u << drop) - 1));
  }
  if (exponent_bits < kExponentBits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const auto beyond = static_cast<uint32_t>(kBias + bias + 1)
                        << kMantissaBits;
    const auto least = static_cast<uint32_t>(kBias + 1 - bias) << kMantissaBits;
    rounded = b.Select(b.CompareImm(Opcode::kVcmpGeS32, rounded, beyond),
                       b.Imm(kInfinity), rounded);
    rounded = b.Select(b.CompareImm(Opcode::kVcmpLtS32, rounded, least),
                       b.Imm(0), rounded);
  }
  // Infinity stays, and a NaN must not round to it; without mantissa there is
  // no NaN.
  rounded = b.Select(b.CompareImm(Opcode::kVcmpGeS32, size, kInfinity),
                     mantissa_bits > 0 ? size : b.Imm(kInfinity), rounded);
  return b.Binary(Opcode::kVor, rounded, sign);
}

}  // namespace ptxla::lowering
