#include "hlo_backend/lowering/fusion/packed_formula.h"

#include <algorithm>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {
namespace {

using codegen::Vec;
using hlo::PrimitiveType;

bool IsEup(isa::Opcode op) { return op == isa::Opcode::kVtanhBf16; }

}  // namespace

std::optional<isa::Opcode> PackedOpcode(hlo::Opcode op) {
  switch (op) {
    case hlo::Opcode::kAdd:
      return isa::Opcode::kVaddBf16;
    case hlo::Opcode::kSubtract:
      return isa::Opcode::kVsubBf16;
    case hlo::Opcode::kMultiply:
      return isa::Opcode::kVmulBf16;
    case hlo::Opcode::kMaximum:
      return isa::Opcode::kVmaxBf16;
    case hlo::Opcode::kMinimum:
      return isa::Opcode::kVminBf16;
    case hlo::Opcode::kTanh:
      return isa::Opcode::kVtanhBf16;
    default:
      return std::nullopt;
  }
}

bool IsPackedFormula(const Expression& e, const Geometry& g) {
  if (e.stages != 1 || e.is_epilogue || !g.packs) return false;
  const auto packed = [](const Stream& s) {
    // (Registers of a shifted stream hold other tiles than those beside it.)
    return s.access == Access::kTile && s.array.type == PrimitiveType::kBf16 &&
           s.pack_rows * s.pack_columns == 2 && !s.tile_by_tile && !s.shifted;
  };
  if (!std::all_of(g.streams.begin(), g.streams.end(), packed)) return false;
  for (const ExprNode& n : e.nodes) {
    if (n.type != PrimitiveType::kBf16 || n.folds_sign) return false;
    switch (n.kind) {
      case ExprNode::Kind::kLeaf:
        if (n.first_lane > 0) return false;
        break;
      case ExprNode::Kind::kConstant:
        break;
      case ExprNode::Kind::kOp:
        if (!PackedOpcode(n.instr->opcode())) return false;
        break;
      default:
        return false;
    }
  }
  return std::all_of(e.reduces.begin(), e.reduces.end(),
                     [](const auto* r) { return r == nullptr; });
}

absl::StatusOr<Vec> NestCode::EvalPacked(int node, int row, int column) {
  const TileKey key = Key(node, row, column);
  if (const auto it = packed_.find(key); it != packed_.end()) return it->second;
  const ExprNode& n = e_.nodes[node];
  Vec value;
  if (n.kind == ExprNode::Kind::kConstant) {
    const uint32_t half = n.constant >> 16;
    value = b_.Imm(half << 16 | half);
  } else if (n.kind == ExprNode::Kind::kLeaf) {
    value = LoadRegister(stream_of_node_[node], row, column);
  } else {
    const isa::Opcode op = *PackedOpcode(n.instr->opcode());
    absl::InlinedVector<Vec, 2> inputs;
    for (const int input : n.inputs) {
      ASSIGN_OR_RETURN(Vec v, EvalPacked(input, row, column));
      inputs.push_back(v);
    }
    value =
        IsEup(op) ? b_.Eup(op, inputs[0]) : b_.Binary(op, inputs[0], inputs[1]);
  }
  packed_[key] = value;
  return value;
}

}  // namespace ptxla::lowering
