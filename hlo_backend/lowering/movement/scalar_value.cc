#include "hlo_backend/lowering/movement/scalar_value.h"

#include <algorithm>
#include <utility>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

int AddScalarWindow(int arg, Tiling* tiling) {
  isa::Window w;
  w.arg = arg;
  w.space = isa::Space::kSmem;
  w.inner_bytes = std::min<int64_t>(tiling->args[arg].bytes, isa::kRowBytes);
  w.slot_bytes = isa::kRowBytes;
  w.slots = 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

void ScalarValue::Add(const hlo::Instruction& i, int operand,
                      const PhysicalArray& type, Tiling* tiling) {
  bits_ = type.bits;
  window_ = -1;
  word_ = 0;
  const hlo::Instruction* value = i.operand(operand);
  if (!value->IsConstant()) {
    window_ = AddScalarWindow(operand, tiling);
    return;
  }
  const uint8_t* bytes = value->literal().element(0);
  for (int b = 0; b < 4; ++b) {
    word_ |= uint32_t{bytes[b % (bits_ / 8)]} << (8 * b);
  }
}

Vec ScalarValue::Emit(CodeBuilder& b) const {
  const Vec value = b.GlobalVec();
  if (window_ < 0) {
    b.ImmTo(value, word_);
    return value;
  }
  const Sca address = b.NewSca();
  b.WindowAddress(address, window_);
  Sca word = b.SLoad(0, address, 0);
  if (bits_ < 32) {
    word = b.SBinaryImm(Opcode::kSand, word,
                        static_cast<int32_t>((1u << bits_) - 1));
  }
  for (int have = bits_; have < 32; have *= 2) {
    word =
        b.SBinary(Opcode::kSor, word, b.SBinaryImm(Opcode::kSshll, word, have));
  }
  b.SplatTo(value, word);
  return value;
}

}  // namespace ptxla::lowering
