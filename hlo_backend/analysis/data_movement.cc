#include "hlo_backend/analysis/data_movement.h"

#include <algorithm>

#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// Nothing comes between elements, and none is passed over.
bool ClosesRanks(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConcatenate:
      return true;
    case Opcode::kSlice: {
      const auto& strides = i.attrs<SliceAttrs>().strides;
      return std::all_of(strides.begin(), strides.end(),
                         [](int64_t stride) { return stride == 1; });
    }
    case Opcode::kPad: {
      const auto& dims = i.attrs<PadAttrs>().dims;
      return i.operand(1)->IsConstant() &&
             std::all_of(dims.begin(), dims.end(),
                         [](const PaddingDim& d) { return d.interior == 0; });
    }
    default:
      return false;
  }
}

}  // namespace

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

bool MovesInOrder(const Instruction& i) {
  // Dimensions of a box: three of planes, rows, lanes.
  constexpr int kMostRank = 5;
  const Shape& to = i.shape();
  if (!ClosesRanks(i) || !to.IsArray() || to.rank() < 1 ||
      to.rank() > kMostRank || !to.has_layout()) {
    return false;
  }
  return std::all_of(
      i.operands().begin(), i.operands().end(), [&](const Instruction* o) {
        return o->shape().IsScalar() ||
               (o->shape().has_layout() && o->shape().layout().minor_to_major ==
                                               to.layout().minor_to_major);
      });
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
