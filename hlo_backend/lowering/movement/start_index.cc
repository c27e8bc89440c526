#include "hlo_backend/lowering/movement/start_index.h"

#include <algorithm>

#include "hlo_backend/lowering/movement/scalar_value.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

StartIndex StartIndex::Add(const hlo::Instruction& i, int operand,
                           Tiling* tiling) {
  StartIndex start;
  start.exists_ = true;
  const hlo::Instruction& value = *i.operand(operand);
  if (value.IsConstant() && !value.literal().IsElided()) {
    start.number_ = value.literal().GetInt(0);
    return start;
  }
  start.window_ = AddScalarWindow(operand, tiling);
  start.is_unsigned_ = value.shape().type() == hlo::PrimitiveType::kU32;
  return start;
}

Sca StartIndex::Clamped(CodeBuilder& b, int64_t last) const {
  if (window_ < 0) {
    const Sca at = b.NewSca();
    b.SImmTo(at, static_cast<int32_t>(std::clamp<int64_t>(number_, 0, last)));
    return at;
  }
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
