#include "hlo_backend/evaluator/elementwise.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::hlo {

absl::Status ElementwiseOp::Choose(Opcode opcode, PrimitiveType type,
                                   const KernelConfig& config) {
  const PrimitiveType wide = WideType(type);
  if (IsComplex(wide)) {
    kernel_ = ComplexKernel(opcode, wide, config);
  } else if (IsFloat(wide)) {
    kernel_ = FloatKernel(opcode, wide, config);
  } else {
    kernel_ = IntegerKernel(opcode, wide, config);
  }
  if (kernel_ != nullptr) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("no evaluation of ",
                                               OpcodeName(opcode), " on ",
                                               PrimitiveTypeName(type)));
}

namespace {

// The signed integer of as many bits, up to 4.
PrimitiveType SignedOf(PrimitiveType type) {
  switch (BitWidth(type)) {
    case 1:
      return PrimitiveType::kS1;
    case 2:
      return PrimitiveType::kS2;
    default:
      return PrimitiveType::kS4;
  }
}

}  // namespace

absl::StatusOr<ElementwiseOp> ElementwiseOp::Create(
    const Instruction& instruction, int tpu_generation) {
  const PrimitiveType result = instruction.shape().type();
  const PrimitiveType first = instruction.operand(0)->shape().type();
  switch (instruction.opcode()) {
    case Opcode::kConvert:
      return CreateConvert(first, result);
    case Opcode::kCopy:
      return CreateConvert(first, first);
    case Opcode::kStochasticConvert:
      return absl::UnimplementedError("no evaluation of stochastic-convert");
    default:
      break;
  }
  ElementwiseOp op;
  op.arity_ = instruction.operand_count();
  op.out_bytes_ = StorageBytes(result);
  for (int i = 0; i < op.arity_; ++i) {
    op.in_bytes_[i] = StorageBytes(instruction.operand(i)->shape().type());
  }
  if (instruction.opcode() == Opcode::kSelect) {
    op.kernel_ = SelectKernel(op.out_bytes_);
    return op;
  }
  if (instruction.opcode() == Opcode::kComplex) {
    op.kernel_ = ComplexFromPartsKernel(first);
    return op;
  }
  KernelConfig config;
  config.tpu_generation = tpu_generation;
  if (const auto* compare = instruction.attrs_if<CompareAttrs>()) {
    config.direction = compare->direction;
    config.total_order = compare->type == CompareType::kTotalOrder;
  }
  if (const auto* reduce = instruction.attrs_if<ReducePrecisionAttrs>()) {
    op.exponent_bits_ = reduce->exponent_bits;
    op.mantissa_bits_ = reduce->mantissa_bits;
  }
  const Opcode opcode = instruction.opcode();
  const bool in_bits = IsInteger(first) && BitWidth(first) < 8;
  RETURN_IF_ERROR(op.Choose(opcode, first, config));
  // Schedules of TPU compilers mix float types: a sum of f32 stored as bf16.
  for (int i = 0; i < op.arity_; ++i) {
    const PrimitiveType type = instruction.operand(i)->shape().type();
    op.decoders_[i] = DecoderOf(IsFloat(type) ? type : first);
  }
  if (in_bits && (opcode == Opcode::kShiftRightLogical ||
                  opcode == Opcode::kPopulationCount)) {
    op.decoders_[0] = BitsDecoderOf(first, BitsForm::kAlone);
  } else if (in_bits && opcode == Opcode::kShiftRightArithmetic) {
    // The highest bit is the sign of unsigned ones too.
    op.decoders_[0] = EncoderOf(SignedOf(first));
  } else if (in_bits && opcode == Opcode::kClz) {
    op.decoders_[0] = BitsDecoderOf(first, BitsForm::kAtTopAboveOne);
  } else if (in_bits && opcode == Opcode::kMulhi) {
    op.decoders_[0] = BitsDecoderOf(first, BitsForm::kAtTop);
  }
  const bool mixed =
      IsFloat(first) && IsFloat(result) && WideType(first) == WideType(result);
  if (result == first || mixed) op.encoder_ = EncoderOf(result);
  return op;
}

absl::StatusOr<ElementwiseOp> ElementwiseOp::CreateBinary(Opcode opcode,
                                                          PrimitiveType type) {
  ElementwiseOp op;
  op.arity_ = 2;
  op.out_bytes_ = op.in_bytes_[0] = op.in_bytes_[1] = StorageBytes(type);
  RETURN_IF_ERROR(op.Choose(opcode, type, KernelConfig()));
  op.decoders_[0] = op.decoders_[1] = DecoderOf(type);
  op.encoder_ = EncoderOf(type);
  return op;
}

absl::StatusOr<ElementwiseOp> ElementwiseOp::CreateConvert(PrimitiveType from,
                                                           PrimitiveType to) {
  ElementwiseOp op;
  op.arity_ = 1;
  op.in_bytes_[0] = StorageBytes(from);
  op.out_bytes_ = StorageBytes(to);
  if (from == to) {
    op.kernel_ = ConvertKernel(UnsignedOfBytes(op.out_bytes_),
                               UnsignedOfBytes(op.out_bytes_));
    return op;
  }
  op.decoders_[0] = DecoderOf(from);
  PrimitiveType wide = WideType(to);
  op.encoder_ = IsFloat(from) ? SaturatingEncoderOf(to) : EncoderOf(to);
  if (IsFloat(to) && op.encoder_ != nullptr && BitWidth(from) == 64 &&
      !IsComplex(from)) {
    // Through double, so that an f64 or s64 is rounded once where it can be.
    wide = PrimitiveType::kF64;
    op.encoder_ = EncoderFromDouble(to);
  }
  op.kernel_ = ConvertKernel(WideType(from), wide);
  if (op.kernel_ != nullptr) return op;
  return absl::UnimplementedError(absl::StrCat("no evaluation of convert from ",
                                               PrimitiveTypeName(from), " to ",
                                               PrimitiveTypeName(to)));
}

void ElementwiseOp::RunBlock(const std::array<const void*, 3>& in,
                             const std::array<bool, 3>& splat, void* out,
                             int64_t n) const {
  // Wide types of narrow ones have at most 8 bytes.
  alignas(16) char wide_in[3][kBlock * 4];
  alignas(16) char wide_out[kBlock * 8];
  KernelArgs args;
  args.n = n;
  args.exponent_bits = exponent_bits_;
  args.mantissa_bits = mantissa_bits_;
  for (int i = 0; i < arity_; ++i) {
    args.splat[i] = splat[i];
    args.in[i] = in[i];
    if (decoders_[i] != nullptr) {
      decoders_[i](in[i], wide_in[i], splat[i] ? 1 : n);
      args.in[i] = wide_in[i];
    }
  }
  args.out = encoder_ != nullptr ? wide_out : out;
  kernel_(args);
  if (encoder_ != nullptr) encoder_(wide_out, out, n);
}

void ElementwiseOp::Run(const std::array<const void*, 3>& in,
                        const std::array<bool, 3>& splat, void* out,
                        int64_t n) const {
  bool narrow = encoder_ != nullptr;
  for (int i = 0; i < arity_; ++i) narrow = narrow || decoders_[i] != nullptr;
  const int64_t block = narrow ? kBlock : n;
  for (int64_t at = 0; at < n; at += block) {
    std::array<const void*, 3> from = in;
    for (int i = 0; i < arity_; ++i) {
      if (!splat[i]) {
        from[i] = static_cast<const char*>(in[i]) + at * in_bytes_[i];
      }
    }
    void* to = static_cast<char*>(out) + at * out_bytes_;
    const int64_t length = std::min(block, n - at);
    if (narrow) {
      RunBlock(from, splat, to, length);
    } else {
      KernelArgs args;
      for (int i = 0; i < arity_; ++i) {
        args.in[i] = from[i];
        args.splat[i] = splat[i];
      }
      args.out = to;
      args.n = length;
      args.exponent_bits = exponent_bits_;
      args.mantissa_bits = mantissa_bits_;
      kernel_(args);
    }
  }
}

}  // namespace ptxla::hlo
