#include "hlo_backend/passes/layout/free_work.h"

#include <numeric>
#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/in_order.h"

namespace ptxla::hlo {
namespace {

// Work on what is free is followed so far.
constexpr int kDeepest = 6;

bool IsFreeToDepth(const Instruction& x, int depth) {
  if (IsFree(x)) return true;
  if (!x.IsElementwise() || x.opcode() == Opcode::kCopy || depth == 0 ||
      x.operand_count() == 0 || HasControlEdges(x)) {
    return false;
  }
  for (const Instruction* o : x.operands()) {
    if (o->shape().IsScalar() && !x.shape().IsScalar()) continue;
    if (!o->shape().SameDims(x.shape()) || !IsFreeToDepth(*o, depth - 1)) {
      return false;
    }
  }
  return true;
}

bool IsReadHereOnly(const Instruction& x) {
  return x.user_count() == 1 && !x.IsRoot() && !HasControlEdges(x);
}

}  // namespace

bool IsFree(const Instruction& i) {
  return IsFreeInOrder(i) ||
         (i.opcode() == Opcode::kConstant && i.literal().IsSplat());
}

bool IsFreeWork(const Instruction& i) { return IsFreeToDepth(i, kDeepest); }

Instruction* FreeWorkInOrder(Builder& b, Instruction* work,
                             const DimVector& order) {
  if (IsFree(*work)) return InOrder(b, work, order);
  std::vector<Instruction*> operands;
  for (Instruction* o : work->operands()) {
    operands.push_back(o->shape().IsScalar() ? o
                                             : FreeWorkInOrder(b, o, order));
  }
  return work->parent()->AddLike(
      *work,
      Shape::Array(work->shape().type(), Permuted(work->shape().dims(), order)),
      operands);
}

Instruction* MadeInOrder(Builder& b, Instruction* i) {
  if (i->opcode() != Opcode::kTranspose || HasControlEdges(*i)) return nullptr;
  Instruction* x = i->operand(0);
  if (!IsReadHereOnly(*x)) return nullptr;
  const DimVector order(i->dimensions().begin(), i->dimensions().end());
  if (!IsFree(*x) && IsFreeWork(*x)) return FreeWorkInOrder(b, x, order);
  if (x->opcode() != Opcode::kReduce || x->operand_count() != 2) return nullptr;
  Instruction* terms = x->operand(0);
  if (!IsReadHereOnly(*terms) || !IsFreeWork(*terms)) return nullptr;
  // What is reduced keeps its place, the others change theirs.
  const int rank = terms->shape().rank();
  const DimVector kept = Others(rank, x->dimensions());
  DimVector whole(rank);
  std::iota(whole.begin(), whole.end(), 0);
  for (size_t d = 0; d < order.size(); ++d) whole[kept[d]] = kept[order[d]];
  return b.Reduce(FreeWorkInOrder(b, terms, whole), x->operand(1),
                  x->dimensions(), x->to_apply());
}

}  // namespace ptxla::hlo
