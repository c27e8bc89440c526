// NestCode: masks that are read from memory as 0 or 1 and wanted as such. As
// the TPU compiler (libtpu 0.0.42.1) has it, they stay words on the way.
#include "base/status.h"
#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

using codegen::Vec;
using isa::Opcode;

namespace {

// Of masks.
bool IsLogic(hlo::Opcode op) {
  return op == hlo::Opcode::kAnd || op == hlo::Opcode::kOr ||
         op == hlo::Opcode::kXor || op == hlo::Opcode::kNot;
}

}  // namespace

// The node is a mask in memory, or logic of such masks alone.
bool NestCode::HasMaskWords(int node) const {
  const ExprNode& n = e_.nodes[node];
  if (n.type != hlo::PrimitiveType::kPred) return false;
  if (n.kind == ExprNode::Kind::kLeaf) {
    return n.argument < Expression::kReduced;
  }
  if (n.kind != ExprNode::Kind::kOp || !IsLogic(n.instr->opcode())) {
    return false;
  }
  for (const int input : n.inputs) {
    if (!HasMaskWords(input)) return false;
  }
  return true;
}

absl::StatusOr<Vec> NestCode::MaskWords(int node, int row, int column) {
  const TileKey key = Key(node, row, column);
  if (const auto it = mask_words_.find(key); it != mask_words_.end()) {
    return it->second;
  }
  const ExprNode& n = e_.nodes[node];
  Vec made;
  if (n.kind == ExprNode::Kind::kLeaf) {
    ASSIGN_OR_RETURN(made, LeafWords(n, row, column));
  } else {
    ASSIGN_OR_RETURN(const Vec x, MaskWords(n.inputs[0], row, column));
    if (n.instr->opcode() == hlo::Opcode::kNot) {
      made = b_.BinaryImm(Opcode::kVxor, x, 1);
    } else {
      ASSIGN_OR_RETURN(const Vec y, MaskWords(n.inputs[1], row, column));
      const Opcode op = n.instr->opcode() == hlo::Opcode::kAnd  ? Opcode::kVand
                        : n.instr->opcode() == hlo::Opcode::kOr ? Opcode::kVor
                                                                : Opcode::kVxor;
      made = b_.Binary(op, x, y);
    }
  }
  mask_words_[key] = made;
  return made;
}

absl::StatusOr<Value> NestCode::MaskAsNumber(const ExprNode& convert, int row,
                                             int column) {
  ASSIGN_OR_RETURN(const Vec words, MaskWords(convert.inputs[0], row, column));
  return Value::Of(hlo::IsFloat(convert.type)
                       ? b_.Unary(Opcode::kVcvtF32S32, words)
                       : words);
}

}  // namespace ptxla::lowering
