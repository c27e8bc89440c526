#include "hlo_backend/lowering/movement/start_index.h"

#include "hlo_backend/lowering/movement/scalar_value.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

StartIndex StartIndex::Add(const hlo::Instruction& i, int operand,
                           Tiling* tiling) {
  StartIndex start;
  start.window_ = AddScalarWindow(operand, tiling);
  start.is_unsigned_ =
      i.operand(operand)->shape().type() == hlo::PrimitiveType::kU32;
  return start;
}

Sca StartIndex::Clamped(CodeBuilder& b, int64_t last) const {
  const Sca address = b.NewSca();
  b.WindowAddress(address, window_);
  Sca at = b.SLoad(0, address, 0);
  if (is_unsigned_) {
    at = SaturatedToSigned(b, at);
  } else {
    at = b.SBinaryImm(Opcode::kSmax, at, 0);
  }
  return b.SBinaryImm(Opcode::kSmin, at, static_cast<int32_t>(last));
}

Sca SaturatedToSigned(CodeBuilder& b, Sca word) {
  const Sca beyond =
      b.SBinaryImm(Opcode::kSshrl, b.SBinaryImm(Opcode::kSshra, word, 31), 1);
  return b.SBinary(Opcode::kSor, beyond,
                   b.SBinaryImm(Opcode::kSand, word, INT32_MAX));
}

}  // namespace ptxla::lowering
