#include "hlo_backend/passes/layout/dropped_lanes.h"

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// Nothing but a last dimension of size 1 goes.
bool DropsLastUnit(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape) return false;
  DimVector dims = i.shape().dims();
  dims.push_back(1);
  return i.operand(0)->shape().dims() == dims;
}

// The value that stands for the transpose; null: another instruction.
Instruction* OneTranspose(Instruction* transpose) {
  if (!transpose->shape().IsArray() || transpose->shape().has_layout()) {
    return nullptr;
  }
  const PrimitiveType type = transpose->shape().type();
  const int rank = transpose->shape().rank();
  if (transpose->opcode() != Opcode::kTranspose || rank < 2 ||
      (BitWidth(type) != 32 && type != PrimitiveType::kBf16) ||
      IsComplex(type) || transpose->dimensions().back() == rank - 1 ||
      !DropsLastUnit(*transpose->operand(0)) ||
      transpose->operand(0)->user_count() > 1) {
    return nullptr;
  }
  DimVector order(transpose->dimensions().begin(),
                  transpose->dimensions().end());
  order.insert(order.end() - 2, rank);
  Builder b(transpose->parent());
  b.set_metadata(transpose->shared_metadata());
  return b.Reshape(b.Transpose(transpose->operand(0)->operand(0), order),
                   transpose->shape().dims());
}

}  // namespace

bool TransposeDroppedLanes(Computation* c) {
  bool changed = false;
  for (Instruction* i : c->PostOrder()) {
    Instruction* value = OneTranspose(i);
    if (value == nullptr) continue;
    c->Replace(i, value);
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
