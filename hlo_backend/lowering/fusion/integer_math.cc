// IntegerOp and PredOp: integers of every width as 32-bit words, pred as masks.
#include <array>
#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/elementwise_parts.h"
#include "hlo_backend/lowering/fusion/wide_multiply.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using hlo::Instruction;
using hlo::PrimitiveType;
using Hlo = hlo::Opcode;
using isa::Opcode;

namespace {

Vec Negative(CodeBuilder& b, Vec x) {
  return b.Binary(Opcode::kVsubS32, b.SharedImm(0), x);
}

// x where it comes before y, else y.
Vec FirstBy(CodeBuilder& b, Opcode comes_before, Vec x, Vec y) {
  return b.Select(b.Compare(comes_before, x, y), x, y);
}

// A negative factor is 2^32 less than its word says.
Vec UpperWord(CodeBuilder& b, PrimitiveType type, Vec x, Vec y) {
  if (hlo::IsUnsigned(type)) return MultiplyHigh(b, x, y);
  if (isa::Supports(b.model(), Opcode::kVmulhiS32)) {
    return b.Binary(Opcode::kVmulhiS32, x, y);
  }
  Vec word = MultiplyHigh(b, x, y);
  for (const auto& [factor, other] : {std::pair(x, y), std::pair(y, x)}) {
    word = b.Binary(Opcode::kVsubS32, word,
                    b.Binary(Opcode::kVand, other,
                             b.BinaryImm(Opcode::kVshra, factor, 31)));
  }
  return word;
}

}  // namespace

Vec WrapInteger(CodeBuilder& b, PrimitiveType type, Vec x) {
  const int bits = hlo::BitWidth(type);
  if (bits >= 32 || !hlo::IsInteger(type)) return x;
  const uint32_t shift = 32 - bits;
  if (hlo::IsUnsigned(type)) {
    return b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
  }
  return b.BinaryImm(Opcode::kVshra, b.BinaryImm(Opcode::kVshll, x, shift),
                     shift);
}

Vec MultiplyIntegers(CodeBuilder& b, Vec x, Vec y) {
  if (isa::Supports(b.model(), Opcode::kVmulU32)) {
    return b.Binary(Opcode::kVmulU32, x, y);
  }
  // Chips without an integer multiply: pieces of 11, 11 and 10 bits, whose
  // products and sums of three products are exact in f32 (31 operations; libtpu
  // 0.0.42.1 takes 33).
  const auto pieces = [&](Vec v) {
    const auto number = [&](Vec bits) {
      return b.Unary(Opcode::kVcvtF32S32, bits);
    };
    const Vec middle = b.BinaryImm(Opcode::kVshrl, v, 11);
    return std::array<Vec, 3>{number(b.BinaryImm(Opcode::kVand, v, 0x7FF)),
                              number(b.BinaryImm(Opcode::kVand, middle, 0x7FF)),
                              number(b.BinaryImm(Opcode::kVshrl, v, 22))};
  };
  const std::array<Vec, 3> p = pieces(x), q = pieces(y);
  const auto product = [&](int j, int k) {
    return b.Binary(Opcode::kVmulF32, p[j], q[k]);
  };
  const auto word = [&](Vec v, uint32_t shift) {
    const Vec whole = b.Unary(Opcode::kVcvtS32F32, v);
    return shift == 0 ? whole : b.BinaryImm(Opcode::kVshll, whole, shift);
  };
  const auto sum = [&](Vec v, Vec w) {
    return b.Binary(Opcode::kVaddF32, v, w);
  };
  const Vec low = word(product(0, 0), 0);
  const Vec cross = word(sum(product(0, 1), product(1, 0)), 11);
  const Vec high =
      word(sum(sum(product(0, 2), product(1, 1)), product(2, 0)), 22);
  return b.Binary(Opcode::kVaddS32, low,
                  b.Binary(Opcode::kVaddS32, cross, high));
}

Vec MaximumOf(CodeBuilder& b, PrimitiveType type, Vec x, Vec y) {
  if (!hlo::IsUnsigned(type)) return FirstBy(b, Opcode::kVcmpGtS32, x, y);
  return isa::Supports(b.model(), Opcode::kVmaxU32)
             ? b.Binary(Opcode::kVmaxU32, x, y)
             : FirstBy(b, Opcode::kVcmpGtU32, x, y);
}

Vec MinimumOf(CodeBuilder& b, PrimitiveType type, Vec x, Vec y) {
  if (!hlo::IsUnsigned(type)) return FirstBy(b, Opcode::kVcmpLtS32, x, y);
  return isa::Supports(b.model(), Opcode::kVminU32)
             ? b.Binary(Opcode::kVminU32, x, y)
             : FirstBy(b, Opcode::kVcmpLtU32, x, y);
}

absl::StatusOr<Value> IntegerOp(CodeBuilder& b, const Instruction& i,
                                absl::Span<const Value> in, bool wraps) {
  const PrimitiveType type = i.shape().type();
  const bool is_unsigned = hlo::IsUnsigned(type);
  const Vec x = in[0].vec;
  const Vec y = in.size() > 1 ? in[1].vec : Vec();
  const auto wrapped = [&](Vec v) {
    return Value::Of(wraps ? WrapInteger(b, type, v) : v);
  };
  const auto binary = [&](Opcode op) { return Value::Of(b.Binary(op, x, y)); };
  switch (i.opcode()) {
    case Hlo::kAdd:
      return wrapped(b.Binary(Opcode::kVaddS32, x, y));
    case Hlo::kSubtract:
      return wrapped(b.Binary(Opcode::kVsubS32, x, y));
    case Hlo::kMultiply:
      return wrapped(MultiplyIntegers(b, x, y));
    case Hlo::kMaximum:
      return Value::Of(MaximumOf(b, type, x, y));
    case Hlo::kMinimum:
      return Value::Of(MinimumOf(b, type, x, y));
    case Hlo::kMulhi:
      if (hlo::BitWidth(type) != 32) break;
      return Value::Of(UpperWord(b, type, x, y));
    case Hlo::kDivide:
    case Hlo::kRemainder:
      if (hlo::BitWidth(type) != 32) break;
      return Value::Of(
          DivideIntegers(b, type, x, y, i.opcode() == Hlo::kRemainder));
    case Hlo::kAnd:
      return binary(Opcode::kVand);
    case Hlo::kOr:
      return binary(Opcode::kVor);
    case Hlo::kXor:
      return binary(Opcode::kVxor);
    case Hlo::kNot:
      return wrapped(b.Unary(Opcode::kVnot, x));
    case Hlo::kNegate:
      return wrapped(Negative(b, x));
    case Hlo::kAbs:
      if (is_unsigned) return in[0];
      return wrapped(
          b.Select(b.CompareImm(Opcode::kVcmpLtS32, x, 0), Negative(b, x), x));
    case Hlo::kSign: {
      const Vec at_most_one =
          b.Select(b.CompareImm(Opcode::kVcmpGtS32, x, 0), b.SharedImm(1), x);
      return Value::Of(b.Select(b.CompareImm(Opcode::kVcmpLtS32, x, 0),
                                b.SharedImm(0xffffffffu), at_most_one));
    }
    case Hlo::kShiftLeft:
      return wrapped(b.Binary(Opcode::kVshll, x, y));
    case Hlo::kShiftRightArithmetic: {
      const int bits = hlo::BitWidth(type);
      if (bits == 32 || !is_unsigned) return binary(Opcode::kVshra);
      // The top bit of an unsigned number is what moves in.
      const uint32_t above = 32 - bits;
      const Vec wide = b.BinaryImm(
          Opcode::kVshra, b.BinaryImm(Opcode::kVshll, x, above), above);
      return wrapped(b.Binary(Opcode::kVshra, wide, y));
    }
    case Hlo::kShiftRightLogical: {
      const int bits = hlo::BitWidth(type);
      if (bits == 32 || is_unsigned) return binary(Opcode::kVshrl);
      const Vec low = b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
      return wrapped(b.Binary(Opcode::kVshrl, low, y));
    }
    case Hlo::kClz: {
      const int bits = hlo::BitWidth(type);
      const Vec low =
          bits == 32 ? x : b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1);
      const Vec n = b.Unary(Opcode::kVclz, low);
      return Value::Of(
          bits == 32 ? n : b.BinaryImm(Opcode::kVsubS32, n, 32u - bits));
    }
    case Hlo::kPopulationCount: {
      const int bits = hlo::BitWidth(type);
      return Value::Of(b.Unary(
          Opcode::kVpcnt,
          bits == 32 ? x : b.BinaryImm(Opcode::kVand, x, (1u << bits) - 1)));
    }
    default:
      break;
  }
  return NoSequence(i, "no vector sequence");
}

absl::StatusOr<Value> PredOp(CodeBuilder& b, const Instruction& i,
                             absl::Span<const Value> in) {
  switch (i.opcode()) {
    case Hlo::kAnd:
    case Hlo::kMultiply:
    case Hlo::kMinimum:
      return Value::Of(b.MaskBinary(Opcode::kVmand, in[0].mask, in[1].mask));
    case Hlo::kOr:
    case Hlo::kMaximum:
    case Hlo::kAdd:
      return Value::Of(b.MaskBinary(Opcode::kVmor, in[0].mask, in[1].mask));
    case Hlo::kXor:
      return Value::Of(b.MaskBinary(Opcode::kVmxor, in[0].mask, in[1].mask));
    case Hlo::kNot:
      return Value::Of(b.MaskNot(in[0].mask));
    default:
      return NoSequence(i, "no mask sequence");
  }
}

}  // namespace ptxla::lowering
