#include "hlo_backend/lowering/fusion/f16_conversion.h"

#include <cstdint>

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

// Conversions came with the vector unit that multiplies 32-bit integers.
bool HasConversions(const isa::MachineModel& model) {
  return isa::Supports(model, Opcode::kVmulU32);
}

constexpr uint32_t kSign = 0x80000000u;
constexpr uint32_t kInfinity32 = 0x7F800000u;
// 2^112 and 2^-112 move exponents from one bias to the other; both are exact on
// what f16 can hold.
constexpr float kUp = 5192296858534827628530496329220096.0f;
constexpr float kDown = 1 / kUp;

}  // namespace

Vec UnpackF16(CodeBuilder& b, Vec packed, int part) {
  if (HasConversions(b.model())) {
    return b.Unary(part ? Opcode::kVunpackCHF16 : Opcode::kVunpackCLF16,
                   packed);
  }
  // Sign extended, so that the sign is where f32 has it after one shift.
  const Vec bits =
      b.Unary(part ? Opcode::kVunpackCHS16 : Opcode::kVunpackCLS16, packed);
  const Vec sign = b.BinaryImm(Opcode::kVand, bits, kSign);
  const Vec shifted = b.BinaryImm(Opcode::kVshll, bits, 13);
  const Vec magnitude = b.BinaryImm(Opcode::kVand, shifted, 0x0FFFE000u);
  const Vec scaled = b.BinaryF(Opcode::kVmulF32, magnitude, kUp);
  const Vec special = b.BinaryImm(Opcode::kVor, magnitude, kInfinity32);
  const Mask is_special =
      b.CompareImm(Opcode::kVcmpGeS32, magnitude, 0x0F800000u);
  const Vec value = b.Select(is_special, special, scaled);
  return b.Binary(Opcode::kVor, value, sign);
}

Vec PackF16(CodeBuilder& b, Vec low, Vec high) {
  if (HasConversions(b.model())) return b.Binary(Opcode::kVpackCF16, low, high);
  const auto round = [&](Vec x) {
    const Vec magnitude = b.BinaryImm(Opcode::kVand, x, ~kSign);
    const Vec sign =
        b.BinaryImm(Opcode::kVand, b.BinaryImm(Opcode::kVshrl, x, 16), 0x8000u);
    // The exponent's bias, exactly; then half a unit, to nearest even.
    const Vec scaled = b.BinaryF(Opcode::kVmulF32, magnitude, kDown);
    const Vec odd =
        b.BinaryImm(Opcode::kVand, b.BinaryImm(Opcode::kVshrl, scaled, 13), 1);
    const Vec up = b.BinaryImm(Opcode::kVaddS32,
                               b.Binary(Opcode::kVaddS32, scaled, odd), 0xFFF);
    const Vec finite = b.BinaryImm(Opcode::kVshrl, up, 13);
    const Vec bounded = b.SelectImm(
        b.CompareImm(Opcode::kVcmpLtS32, finite, 0x7C00), finite, 0x7C00);
    const Vec value =
        b.SelectImm(b.CompareImm(Opcode::kVcmpLeS32, magnitude, kInfinity32),
                    bounded, 0x7E00);
    return b.Binary(Opcode::kVor, value, sign);
  };
  return b.Binary(Opcode::kVpackCB16, round(low), round(high));
}

int PackF16Operations(const isa::MachineModel& model) {
  return HasConversions(model) ? 1 : 14;
}

}  // namespace ptxla::lowering
