// Division of words as the TPU compiler writes it for divisors that it does not
// know: one bit of the quotient after the other (libtpu 0.0.42.1: 317 vector
// operations for u32 and 326 for s32 before v6e, 284 and 293 from it on).
#include "hlo_backend/lowering/fusion/elementwise_parts.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

namespace {

struct Division {
  Vec quotient, rest;
};

// Of unsigned words. The dividend leaves its register at the top, bit by bit,
// and the quotient enters at the bottom. By 0 every bit of it is set, and the
// rest is the dividend.
Division DivideWords(CodeBuilder& b, Vec x, Vec y) {
  const auto shift = [&](Vec v) { return b.BinaryImm(Opcode::kVshll, v, 1); };
  // Where the chip compares signed words alone, those of turned sign bits.
  const bool compares = isa::Supports(b.model(), Opcode::kVcmpGeU32);
  const auto ordered = [&](Vec v) {
    return compares ? v : b.BinaryImm(Opcode::kVxor, v, 0x80000000u);
  };
  const Vec divisor = ordered(y);
  Vec rest;
  for (int bit = 0; bit < 32; ++bit) {
    const Vec next = b.BinaryImm(Opcode::kVshrl, x, 31);
    rest = bit == 0 ? next : b.Binary(Opcode::kVor, shift(rest), next);
    x = shift(x);
    const Mask fits =
        b.Compare(compares ? Opcode::kVcmpGeU32 : Opcode::kVcmpGeS32,
                  ordered(rest), divisor);
    rest = b.Select(fits, b.Binary(Opcode::kVsubS32, rest, y), rest);
    x = b.Select(fits, b.BinaryImm(Opcode::kVor, x, 1), x);
  }
  return {x, rest};
}

}  // namespace

Vec DivideIntegers(CodeBuilder& b, PrimitiveType type, Vec x, Vec y,
                   bool remainder) {
  if (hlo::IsUnsigned(type)) {
    const Division d = DivideWords(b, x, y);
    return remainder ? d.rest : d.quotient;
  }
  const auto is_negative = [&](Vec v) {
    return b.CompareImm(Opcode::kVcmpLtS32, v, 0);
  };
  const auto turned = [&](Mask m, Vec v) {
    return b.Select(m, b.Binary(Opcode::kVsubS32, b.SharedImm(0), v), v);
  };
  const Division d =
      DivideWords(b, turned(is_negative(x), x), turned(is_negative(y), y));
  if (remainder) return turned(is_negative(x), d.rest);
  const Vec quotient =
      turned(is_negative(b.Binary(Opcode::kVxor, x, y)), d.quotient);
  const Mask by_zero = b.CompareImm(Opcode::kVcmpEqS32, y, 0);
  return b.Select(by_zero, b.SharedImm(0xffffffffu), quotient);
}

}  // namespace ptxla::lowering
