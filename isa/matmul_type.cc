#include "isa/matmul_type.h"

#include <optional>

namespace ptxla::isa {
namespace {

chips::MatmulType TypeOf(Opcode op) {
  switch (op) {
    case Opcode::kVmatmulF32:
    case Opcode::kVmatmulF32Low:
      return chips::MatmulType::kF32;
    case Opcode::kVmatmulS8:
      return chips::MatmulType::kInt8;
    case Opcode::kVmatmulF8E5M2:
    case Opcode::kVmatmulF8E4M3Fn:
    case Opcode::kVmatmulF8E4M3B11:
      return chips::MatmulType::kFp8;
    default:
      return chips::MatmulType::kBf16;
  }
}

std::optional<chips::MatmulType> FirstIn(const Code& code) {
  for (const Node& node : code) {
    std::optional<chips::MatmulType> type;
    if (const Loop* loop = node.loop()) type = FirstIn(loop->body);
    if (const When* when = node.when()) type = FirstIn(when->body);
    if (type.has_value()) return type;
    const Block* block = node.block();
    if (block == nullptr) continue;
    for (const Instr& i : block->instrs) {
      if (IsMatmul(i.op)) return TypeOf(i.op);
    }
  }
  return std::nullopt;
}

}  // namespace

chips::MatmulType MatmulTypeOf(const Kernel& kernel) {
  return FirstIn(kernel.step).value_or(chips::MatmulType::kBf16);
}

}  // namespace ptxla::isa
