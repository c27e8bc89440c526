// FloatOp: every float is computed as f32.
#include "hlo_backend/lowering/codegen/word_bits.h"
#include "hlo_backend/lowering/fusion/elementwise_parts.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using hlo::Instruction;
using Hlo = hlo::Opcode;
using isa::Opcode;

namespace {

constexpr uint32_t kAbsMask = 0x7fffffffu;

Vec SignF32(CodeBuilder& b, Vec x) {
  const Vec one = b.Binary(Opcode::kVor, b.ImmF(1.0f),
                           b.BinaryImm(Opcode::kVand, x, codegen::kSignBit));
  // Zeros and NaN are their own signs.
  const Mask nonzero = b.CompareImm(Opcode::kVcmpGtF32,
                                    b.BinaryImm(Opcode::kVand, x, kAbsMask), 0);
  return b.Select(nonzero, one, x);
}

}  // namespace

Value EmitWithSign(CodeBuilder& b, const Instruction& i, Value x) {
  return Value::Of(i.opcode() == Hlo::kExp
                       ? EmitExpOfNegated(b, x.vec)
                       : b.BinaryImm(Opcode::kVor, x.vec, codegen::kSignBit));
}

codegen::Vec EmitDivisor(CodeBuilder& b, hlo::PrimitiveType type, Vec y) {
  // The EUP's reciprocal is good enough for 8 bits: no Newton step, as the TPU
  // compiler has it.
  return type == hlo::PrimitiveType::kBf16 ? b.Eup(Opcode::kVrcpF32, y)
                                           : EmitReciprocal(b, y);
}

absl::StatusOr<Value> FloatOp(CodeBuilder& b, const Instruction& i,
                              absl::Span<const Value> in) {
  const Vec x = in[0].vec;
  const Vec y = in.size() > 1 ? in[1].vec : Vec();
  const auto vec = [](Vec v) { return Value::Of(v); };
  switch (i.opcode()) {
    case Hlo::kAbs:
      return vec(b.BinaryImm(Opcode::kVand, x, kAbsMask));
    case Hlo::kNegate:
      return vec(b.BinaryImm(Opcode::kVxor, x, codegen::kSignBit));
    case Hlo::kAdd:
      return vec(b.Binary(Opcode::kVaddF32, x, y));
    case Hlo::kSubtract:
      return vec(b.Binary(Opcode::kVsubF32, x, y));
    case Hlo::kMultiply:
      return vec(b.Binary(Opcode::kVmulF32, x, y));
    case Hlo::kMaximum:
      return vec(b.Binary(Opcode::kVmaxF32, x, y));
    case Hlo::kMinimum:
      return vec(b.Binary(Opcode::kVminF32, x, y));
    case Hlo::kDivide:
      return vec(
          b.Binary(Opcode::kVmulF32, x, EmitDivisor(b, i.shape().type(), y)));
    case Hlo::kExp:
      return vec(EmitExp(b, x));
    case Hlo::kExpm1:
      return vec(EmitExpm1(b, x));
    case Hlo::kLog:
      return vec(EmitLog(b, x));
    case Hlo::kLog1p:
      return vec(EmitLog1p(b, x));
    case Hlo::kTanh:
      return vec(b.Eup(Opcode::kVtanhF32, x));
    case Hlo::kLogistic:
      return vec(EmitLogistic(b, x));
    case Hlo::kErf:
      return vec(EmitErf(b, x));
    case Hlo::kRsqrt:
      return vec(EmitRsqrt(b, x));
    case Hlo::kSqrt:
      return vec(EmitSqrt(b, x));
    case Hlo::kPower:
      return vec(EmitPower(b, x, y));
    case Hlo::kSign:
      return vec(SignF32(b, x));
    case Hlo::kReal:
      return in[0];
    case Hlo::kImag:
      return vec(b.Imm(0));
    case Hlo::kFloor:
      return vec(EmitFloor(b, x));
    case Hlo::kCeil:
      return vec(EmitCeil(b, x));
    case Hlo::kSin:
      return vec(EmitSine(b, x));
    case Hlo::kCos:
      return vec(EmitCosine(b, x));
    case Hlo::kCbrt:
      return vec(EmitCbrt(b, x));
    case Hlo::kRoundNearestEven:
      return vec(EmitRoundNearestEven(b, x));
    case Hlo::kRoundNearestAfz:
      return vec(EmitRoundNearestAfz(b, x));
    case Hlo::kIsFinite:
      return Value::Of(b.MaskNot(b.IsWeird(x)));
    default:
      break;
  }
  return NoSequence(i, "no vector sequence");
}

}  // namespace ptxla::lowering
