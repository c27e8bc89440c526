#include "hlo_backend/lowering/fusion/f16_conversion.h"

#include <cstdint>

#include "hlo_backend/lowering/codegen/word_bits.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

// Conversions came with the vector unit that multiplies 32-bit integers.
bool HasConversions(const isa::MachineModel& model) {
  return isa::Supports(model, Opcode::kVmulU32);
}

constexpr uint32_t kInfinity32 = 0x7F800000u;
// What moves an exponent from the bias of f16 to that of f32.
constexpr uint32_t kRebias = (127u - 15u) << 23;
// The least normal f16, 2^-14, as f32.
constexpr uint32_t kLeastNormal = (127u - 14u) << 23;
constexpr float kLeastNormalF = 1.0f / 16384;
// From here on, f32 magnitudes are infinite as f16.
constexpr uint32_t kTooLarge = (127u + 16u) << 23;

// f16, in the upper half of a word, as f32.
Vec Widen(CodeBuilder& b, Vec upper) {
  const Vec bits = b.BinaryImm(Opcode::kVshra, upper, 16);
  const Vec magnitude =
      b.BinaryImm(Opcode::kVshll, b.BinaryImm(Opcode::kVand, bits, 0x7FFF), 13);
  const Vec sign =
      b.BinaryImm(Opcode::kVshll, b.BinaryImm(Opcode::kVand, bits, 0x8000), 16);
  const Vec normal = b.BinaryImm(Opcode::kVaddS32, magnitude, kRebias);
  // Infinities and NaNs have the largest exponent again.
  const Vec special = b.BinaryImm(Opcode::kVaddS32, normal, kRebias);
  // Denormals get the implied one that they lack, and lose it as a number.
  const Vec denormal = b.BinaryF(
      Opcode::kVaddF32, b.BinaryImm(Opcode::kVaddS32, normal, 1u << 23),
      -kLeastNormalF);
  const Vec finite = b.Select(
      b.CompareImm(Opcode::kVcmpLtS32, magnitude, 1u << 23), denormal, normal);
  const Vec value = b.Select(
      b.CompareImm(Opcode::kVcmpGeS32, magnitude, 31u << 23), special, finite);
  return b.Binary(Opcode::kVor, value, sign);
}

// f32 as a float of a sign, the 5 bits of exponent of f16 and `fraction` bits,
// in the low bits of a word, rounded to nearest even.
Vec Narrow(CodeBuilder& b, Vec x, uint32_t fraction) {
  const uint32_t dropped = 23 - fraction;
  const Vec magnitude = b.BinaryImm(Opcode::kVand, x, ~codegen::kSignBit);
  const Vec sign = b.BinaryImm(Opcode::kVand, x, codegen::kSignBit);
  // The sum with this power of two has the last bit of a denormal result as its
  // own last bit.
  const uint32_t unit = (136u - fraction) << 23;
  const Vec denormal = b.BinaryImm(
      Opcode::kVsubS32, b.BinaryImm(Opcode::kVaddF32, magnitude, unit), unit);
  const Vec odd =
      b.BinaryImm(Opcode::kVand, b.BinaryImm(Opcode::kVshrl, x, dropped), 1);
  const Vec rounded = b.Binary(Opcode::kVaddS32,
                               b.BinaryImm(Opcode::kVaddS32, magnitude,
                                           (1u << (dropped - 1)) - 1 - kRebias),
                               odd);
  const Vec normal = b.BinaryImm(Opcode::kVshrl, rounded, dropped);
  const Vec finite =
      b.Select(b.CompareImm(Opcode::kVcmpLtS32, magnitude, kLeastNormal),
               denormal, normal);
  const uint32_t infinity = 31u << fraction;
  const Vec bounded = b.SelectImm(
      b.CompareImm(Opcode::kVcmpLtS32, magnitude, kTooLarge), finite, infinity);
  const Vec value =
      b.SelectImm(b.CompareImm(Opcode::kVcmpLeS32, magnitude, kInfinity32),
                  bounded, infinity | 1u << (fraction - 1));
  return b.Binary(Opcode::kVor, value,
                  b.BinaryImm(Opcode::kVshrl, sign, 26 - fraction));
}

Vec NarrowToUpper(CodeBuilder& b, Vec x) {
  return b.BinaryImm(Opcode::kVshll, Narrow(b, x, 10), 16);
}

}  // namespace

Vec UnpackF16(CodeBuilder& b, Vec packed, int part) {
  if (HasConversions(b.model())) {
    return b.Unary(part ? Opcode::kVunpackCHF16 : Opcode::kVunpackCLF16,
                   packed);
  }
  return Widen(
      b,
      b.Unary(part ? Opcode::kVunpackCHBf16 : Opcode::kVunpackCLBf16, packed));
}

Vec NarrowToF16(CodeBuilder& b, Vec x) {
  if (!HasConversions(b.model())) return Narrow(b, x, 10);
  return b.Unary(Opcode::kVunpackCLU16, b.Binary(Opcode::kVpackCF16, x, x));
}

Vec F16InWords(CodeBuilder& b, Vec bits) {
  if (!HasConversions(b.model())) {
    return Widen(b, b.BinaryImm(Opcode::kVshll, bits, 16));
  }
  return b.Unary(Opcode::kVunpackCLF16,
                 b.Binary(Opcode::kVpackCB16, bits, bits));
}

Vec WidenF16(CodeBuilder& b, Vec bits) {
  const Vec upper = b.BinaryImm(Opcode::kVshll, bits, 16);
  if (!HasConversions(b.model())) return Widen(b, upper);
  // Both halves the same: all rows of the register are what was in it.
  const Vec lower = b.BinaryImm(Opcode::kVand, bits, 0xFFFFu);
  return b.Unary(Opcode::kVunpackCLF16, b.Binary(Opcode::kVor, upper, lower));
}

Vec WidenUpperF16(CodeBuilder& b, Vec upper) { return Widen(b, upper); }
Vec NarrowToUpperF16(CodeBuilder& b, Vec x) { return NarrowToUpper(b, x); }

Vec NarrowToF8E5M2(CodeBuilder& b, Vec x) {
  return isa::Supports(b.model(), Opcode::kVcvtF8E5M2F32)
             ? b.Unary(Opcode::kVcvtF8E5M2F32, x)
             : Narrow(b, x, 2);
}

Vec PackF16(CodeBuilder& b, Vec low, Vec high) {
  if (HasConversions(b.model())) return b.Binary(Opcode::kVpackCF16, low, high);
  // No f16 has the largest exponent of bf16: packing changes nothing.
  return b.Binary(Opcode::kVpackCBf16, NarrowToUpper(b, low),
                  NarrowToUpper(b, high));
}

int UnpackF16Operations(const isa::MachineModel& model) {
  return HasConversions(model) ? 1 : 15;
}

int PackF16Operations(const isa::MachineModel& model) {
  return HasConversions(model) ? 1 : 19;
}

}  // namespace ptxla::lowering
