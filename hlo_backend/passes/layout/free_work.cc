#include "hlo_backend/passes/layout/free_work.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
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

// Of the arrays that the work broadcasts, those whose own dimensions another
// order would turn.
int64_t TurnedElements(const Instruction& work, const DimVector& order) {
  if (work.opcode() == Opcode::kBroadcast) {
    const DimVector places = Inverse(order);
    DimVector mapped;
    for (const int64_t d : work.dimensions()) mapped.push_back(places[d]);
    return std::is_sorted(mapped.begin(), mapped.end())
               ? 0
               : work.operand(0)->shape().ElementCount();
  }
  int64_t elements = 0;
  for (const Instruction* o : work.operands()) {
    if (!o->shape().IsScalar()) elements += TurnedElements(*o, order);
  }
  return elements;
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
  // What is reduced keeps its place and the others change theirs, or it comes
  // last: as fewer elements are turned.
  const int rank = terms->shape().rank();
  const DimVector kept = Others(rank, x->dimensions());
  DimVector whole(rank), last, dims;
  std::iota(whole.begin(), whole.end(), 0);
  for (size_t d = 0; d < order.size(); ++d) {
    whole[kept[d]] = kept[order[d]];
    last.push_back(kept[order[d]]);
  }
  for (const int64_t d : x->dimensions()) {
    dims.push_back(static_cast<int64_t>(last.size()));
    last.push_back(d);
  }
  if (TurnedElements(*terms, whole) <= TurnedElements(*terms, last)) {
    return b.Reduce(FreeWorkInOrder(b, terms, whole), x->operand(1),
                    x->dimensions(), x->to_apply());
  }
  return b.Reduce(FreeWorkInOrder(b, terms, last), x->operand(1), dims,
                  x->to_apply());
}

}  // namespace ptxla::hlo
