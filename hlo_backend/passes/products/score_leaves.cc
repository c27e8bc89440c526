#include "hlo_backend/passes/products/score_leaves.h"

#include <algorithm>

#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/passes/control_edges.h"

namespace ptxla::hlo {
namespace {

// Work on what is free is followed so far.
constexpr int kDeepestLeaf = 6;

bool IsFree(const Instruction& x, int depth) {
  if (x.opcode() == Opcode::kBroadcast || x.opcode() == Opcode::kIota) {
    return true;
  }
  if (x.opcode() == Opcode::kConstant) return x.literal().IsSplat();
  return depth > 0 && x.IsElementwise() && x.opcode() != Opcode::kCopy &&
         !HasControlEdges(x) &&
         std::all_of(x.operands().begin(), x.operands().end(),
                     [&](const Instruction* o) {
                       return o->shape().IsScalar() || IsFree(*o, depth - 1);
                     });
}

}  // namespace

bool IsFreeScore(const Instruction& x) { return IsFree(x, kDeepestLeaf); }

int64_t BytesToTurn(const Instruction& x) {
  if (x.IsElementwise()) {
    int64_t bytes = 0;
    for (const Instruction* o : x.operands()) {
      if (!o->shape().IsScalar()) bytes += BytesToTurn(*o);
    }
    return bytes;
  }
  const int rank = x.shape().rank();
  if (x.opcode() != Opcode::kBroadcast || !Contains(x.dimensions(), rank - 1) ||
      !Contains(x.dimensions(), rank - 2)) {
    return 0;
  }
  const Instruction& source = *x.operand(0);
  return IsFreeScore(source) ? BytesToTurn(source) : source.shape().ByteSize();
}

}  // namespace ptxla::hlo
