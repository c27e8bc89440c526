#include "hlo_backend/analysis/data_movement.h"

#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool IsDataMovement(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kPad:
      return true;
    default:
      return false;
  }
}

bool IsMovementFusion(const Instruction& fusion) {
  bool moves = false, reshapes = false, repeats = false;
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kParameter) continue;
    if (!IsDataMovement(*i)) return false;
    // A plain loop may hold the others. Dimensions of size 1 alone may move
    // rows to lanes, which no loop does.
    const bool reshape =
        i->opcode() == Opcode::kReshape &&
        SameUpToDegenerateDims(i->shape(), i->operand(0)->shape());
    reshapes |= reshape;
    repeats |= i->opcode() == Opcode::kBroadcast;
    moves |= i->opcode() != Opcode::kBroadcast &&
             i->opcode() != Opcode::kBitcast && !reshape;
  }
  return moves || (reshapes && !repeats);
}

}  // namespace ptxla::hlo
