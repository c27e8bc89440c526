// f32 functions composed from EUP results and vector arithmetic.
#include "base/numerics/transcendental.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

namespace {

constexpr uint32_t kSignBit = 0x80000000u;
constexpr uint32_t kAbsMask = 0x7fffffffu;
constexpr uint32_t kInfinity = 0x7f800000u;

// The EUP's result is used as it is.
bool ExactEup(const CodeBuilder& b) {
  return isa::Supports(b.model(), Opcode::kVerfF32);
}

Vec Mul(CodeBuilder& b, Vec x, Vec y) {
  return b.Binary(Opcode::kVmulF32, x, y);
}
Vec MulImm(CodeBuilder& b, Vec x, float y) {
  return b.BinaryF(Opcode::kVmulF32, x, y);
}
Vec AddImm(CodeBuilder& b, Vec x, float y) {
  return b.BinaryF(Opcode::kVaddF32, x, y);
}
Vec Sub(CodeBuilder& b, Vec x, Vec y) {
  return b.Binary(Opcode::kVsubF32, x, y);
}
// c - x
Vec RsubImm(CodeBuilder& b, float c, Vec x) {
  return AddImm(b, b.BinaryImm(Opcode::kVxor, x, kSignBit), c);
}

// Horner's rule, highest coefficient first.
Vec Polynomial(CodeBuilder& b, Vec x, absl::Span<const float> coefficients) {
  Vec y = AddImm(b, MulImm(b, x, coefficients[0]), coefficients[1]);
  for (size_t k = 2; k < coefficients.size(); ++k) {
    y = AddImm(b, Mul(b, y, x), coefficients[k]);
  }
  return y;
}

// Replaces NaN that refinement made of 0 or infinity by the EUP's own result.
Vec UnlessNan(CodeBuilder& b, Vec refined, Vec raw) {
  return b.Select(b.Compare(Opcode::kVcmpEqF32, refined, refined), refined,
                  raw);
}

}  // namespace

Vec EmitReciprocal(CodeBuilder& b, Vec x) {
  if (ExactEup(b)) return b.Eup(Opcode::kVrcpF32, x);
  // Large x are scaled down first, so that the refinement does not meet a
  // subnormal reciprocal.
  const Mask large =
      b.CompareImm(Opcode::kVcmpGtF32, b.BinaryImm(Opcode::kVand, x, kAbsMask),
                   0x7e800000u);  // 2^126
  const Vec scale = b.SelectImm(large, b.ImmF(0.25f), 0x3f800000u);
  const Vec scaled = Mul(b, x, scale);
  const Vec raw = b.Eup(Opcode::kVrcpF32, scaled);
  Vec r = raw;
  for (int step = 0; step < 2; ++step) {
    r = Mul(b, r, RsubImm(b, 2.0f, Mul(b, scaled, r)));
  }
  return Mul(b, UnlessNan(b, r, raw), scale);
}

Vec EmitRsqrt(CodeBuilder& b, Vec x) {
  const Vec raw = b.Eup(Opcode::kVrsqrtF32, x);
  if (ExactEup(b)) return raw;
  // y (1.5 - x/2 y^2)
  const Vec half = MulImm(b, x, 0.5f);
  const Vec t = Mul(b, half, Mul(b, raw, raw));
  return UnlessNan(b, Mul(b, raw, RsubImm(b, 1.5f, t)), raw);
}

Vec EmitSqrt(CodeBuilder& b, Vec x) {
  // x / sqrt(x), but infinity and zeros are their own roots.
  const Vec root = Mul(b, x, EmitRsqrt(b, x));
  const Mask infinite = b.CompareImm(Opcode::kVcmpEqF32, x, kInfinity);
  const Vec y = b.Select(infinite, x, root);
  const Mask zero = b.CompareImm(Opcode::kVcmpEqF32, x, 0);
  return b.Select(zero, b.BinaryImm(Opcode::kVand, x, kSignBit), y);
}

Vec EmitExp(CodeBuilder& b, Vec x) {
  return b.Eup(Opcode::kVpow2F32, MulImm(b, x, numerics::kLog2E));
}

Vec EmitLog(CodeBuilder& b, Vec x) {
  return MulImm(b, b.Eup(Opcode::kVlog2F32, x), numerics::kLn2);
}

Vec EmitErf(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVerfF32)) {
    return b.Eup(Opcode::kVerfF32, x);
  }
  // x P(x^2) / Q(x^2) on [-4, 4], beyond which erf is 1 in f32.
  static constexpr float kP[] = {-2.72614225801306e-10f, 2.77068142495902e-08f,
                                 -2.10102402082508e-06f, -5.69250639462346e-05f,
                                 -7.34990630326855e-04f, -2.95459980854025e-03f,
                                 -1.60960333262415e-02f};
  static constexpr float kQ[] = {-1.45660718464996e-05f, -2.13374055278905e-04f,
                                 -1.68282697438203e-03f, -7.37332916720468e-03f,
                                 -1.42647390514189e-02f};
  const Vec c =
      b.BinaryF(Opcode::kVmaxF32, b.BinaryF(Opcode::kVminF32, x, 4.0f), -4.0f);
  const Vec square = Mul(b, c, c);
  const Vec p = Mul(b, c, Polynomial(b, square, kP));
  return Mul(b, p, EmitReciprocal(b, Polynomial(b, square, kQ)));
}

Vec EmitPower(CodeBuilder& b, Vec x, Vec y) {
  // |x|^y = 2^(y log2 |x|), then what a negative base, 0, 1 and y = 0 ask for.
  const Vec magnitude = b.BinaryImm(Opcode::kVand, x, kAbsMask);
  const Vec product = Mul(b, y, b.Eup(Opcode::kVlog2F32, magnitude));
  Vec r = b.Eup(Opcode::kVpow2F32, product);
  const Vec whole = EmitFloor(b, y);
  const Mask is_integer = b.Compare(Opcode::kVcmpEqF32, whole, y);
  const Vec half = MulImm(b, y, 0.5f);
  const Mask is_odd =
      b.MaskBinary(Opcode::kVmand, is_integer,
                   b.Compare(Opcode::kVcmpNeF32, EmitFloor(b, half), half));
  const Vec sign = b.BinaryImm(Opcode::kVand, x, kSignBit);
  r = b.Select(is_odd, b.Binary(Opcode::kVor, r, sign), r);
  const Mask bad = b.MaskBinary(Opcode::kVmand, b.MaskNot(is_integer),
                                b.CompareImm(Opcode::kVcmpLtF32, x, 0));
  r = b.Select(bad, b.Imm(0x7fc00000u), r);
  const Vec one = b.ImmF(1.0f);
  r = b.Select(b.CompareImm(Opcode::kVcmpEqF32, x, 0x3f800000u), one, r);
  return b.Select(b.CompareImm(Opcode::kVcmpEqF32, y, 0), one, r);
}

absl::StatusOr<Vec> EmitSine(CodeBuilder& b, Vec x, bool cosine) {
  // x - n pi/2 in three pieces, exact for |x| below about 1e5; the quadrant
  // chooses sine or cosine and the sign.
  const Vec n = b.Unary(Opcode::kVroundF32, MulImm(b, x, 0.636619772367581f));
  if (!isa::Supports(b.model(), Opcode::kVroundF32)) {
    return absl::UnimplementedError("sine on a chip without rounding");
  }
  Vec r = Sub(b, x, MulImm(b, n, 1.5703125f));
  r = Sub(b, r, MulImm(b, n, 4.837512969970703125e-4f));
  r = Sub(b, r, MulImm(b, n, 7.549789948768648e-8f));
  Vec quadrant = b.Unary(Opcode::kVcvtS32F32, n);
  if (cosine) quadrant = b.BinaryImm(Opcode::kVaddS32, quadrant, 1);
  const Vec square = Mul(b, r, r);
  static constexpr float kSin[] = {-1.9515295891e-4f, 8.3321608736e-3f,
                                   -1.6666654611e-1f};
  static constexpr float kCos[] = {
      2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
  const Vec cube = Mul(b, r, square);
  const Vec sine =
      b.Binary(Opcode::kVaddF32, r, Mul(b, cube, Polynomial(b, square, kSin)));
  const Vec quad = Mul(b, square, square);
  const Vec cos =
      b.Binary(Opcode::kVaddF32, AddImm(b, MulImm(b, square, -0.5f), 1.0f),
               Mul(b, quad, Polynomial(b, square, kCos)));
  const Mask odd = b.CompareImm(Opcode::kVcmpNeS32,
                                b.BinaryImm(Opcode::kVand, quadrant, 1), 0);
  const Vec sign =
      b.BinaryImm(Opcode::kVshll, b.BinaryImm(Opcode::kVand, quadrant, 2), 30);
  return b.Binary(Opcode::kVxor, b.Select(odd, cos, sine), sign);
}

Vec EmitFloor(CodeBuilder& b, Vec x) {
  if (isa::Supports(b.model(), Opcode::kVfloorF32)) {
    return b.Unary(Opcode::kVfloorF32, x);
  }
  // Truncate by way of an integer; numbers from 2^23 on are whole already.
  const Vec t = b.Unary(Opcode::kVcvtF32S32, b.Unary(Opcode::kVcvtS32F32, x));
  const Mask above = b.Compare(Opcode::kVcmpGtF32, t, x);
  const Vec f = Sub(b, t, MaskToNumber(b, above, true));
  const Vec signed_f =
      b.Binary(Opcode::kVor, f, b.BinaryImm(Opcode::kVand, x, kSignBit));
  const Mask small = b.CompareImm(
      Opcode::kVcmpLtF32, b.BinaryImm(Opcode::kVand, x, kAbsMask), 0x4b000000u);
  return b.Select(small, signed_f, x);
}

}  // namespace ptxla::lowering
