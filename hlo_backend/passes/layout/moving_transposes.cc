#include "hlo_backend/passes/layout/moving_transposes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {
namespace {

// A transpose of `x` by `order` that is there already; null: there is none. One
// with an order of its own to keep may come too late.
Instruction* TransposeOf(const Instruction& x, const DimVector& order) {
  for (Instruction* u : x.users()) {
    if (u->opcode() == Opcode::kTranspose &&
        u->dimensions() == absl::MakeConstSpan(order) && !HasControlEdges(*u)) {
      return u;
    }
  }
  return nullptr;
}

// Others (a convolution) read `x` in that order, or the array that it is made
// of by work on one array.
bool IsThereInOrder(const Instruction& x, const DimVector& order) {
  if (TransposeOf(x, order) != nullptr) return true;
  return x.IsElementwise() && x.operand_count() == 1 &&
         x.opcode() != Opcode::kCopy && !HasControlEdges(x) &&
         IsThereInOrder(*x.operand(0), order);
}

Instruction* MadeOfWhatIsThere(Instruction* x, const DimVector& order) {
  if (Instruction* t = TransposeOf(*x, order); t != nullptr) return t;
  return x->parent()->AddLike(
      *x, Shape::Array(x->shape().type(), Permuted(x->shape().dims(), order)),
      {MadeOfWhatIsThere(x->operand(0), order)});
}

}  // namespace

bool MovingTransposes::IsOfEntry(const Instruction* x) const {
  return of_entry_.contains(x) ||
         (x->opcode() == Opcode::kParameter && x->parent()->IsEntry());
}

bool MovingTransposes::IsWorkOfEntry(const Instruction& i) const {
  return i.IsElementwise() &&
         std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return o->shape().SameDims(i.shape()) && !Moves(o) &&
                              IsOfEntry(o);
                     });
}

DimVector MovingTransposes::OrderOf(
    const Instruction& x, absl::Span<Instruction* const> beside) const {
  if (Moves(&x)) return {x.dimensions().begin(), x.dimensions().end()};
  for (const Instruction* y : beside) {
    if (!Moves(y)) continue;
    const DimVector order(y->dimensions().begin(), y->dimensions().end());
    if (IsThereInOrder(x, Inverse(order))) return order;
  }
  return {};
}

std::optional<DimVector> MovingTransposes::Order(
    absl::Span<Instruction* const> arrays) const {
  struct Candidate {
    DimVector order;
    int arrays = 0, of_entry = 0;
  };
  std::vector<Candidate> orders;
  int given = 0;
  for (const Instruction* x : arrays) {
    if (IsFreeWork(*x)) continue;
    ++given;
    if (!Moves(x) && !IsOfEntry(x)) continue;
    const DimVector order = OrderOf(*x, arrays);
    auto it = std::find_if(orders.begin(), orders.end(),
                           [&](const auto& c) { return c.order == order; });
    if (it == orders.end()) it = orders.insert(it, Candidate{order});
    ++it->arrays;
    it->of_entry += IsOfEntry(x) ? 1 : 0;
  }
  const auto best = std::max_element(
      orders.begin(), orders.end(), [](const Candidate& a, const Candidate& b) {
        return std::pair(a.arrays, a.of_entry) <
               std::pair(b.arrays, b.of_entry);
      });
  if (best == orders.end() || best->order.empty() || 2 * best->arrays < given) {
    return {};
  }
  return best->order;
}

Instruction* MovingTransposes::Before(Instruction* x, const DimVector& order) {
  if (Moves(x) && x->dimensions() == absl::MakeConstSpan(order)) {
    return x->operand(0);
  }
  const DimVector inverse = Inverse(order);
  if (IsThereInOrder(*x, inverse)) return MadeOfWhatIsThere(x, inverse);
  return IsFreeWork(*x) ? FreeWorkInOrder(*b_, x, inverse)
                        : Transposed(b_, x, inverse);
}

Instruction* MovingTransposes::Behind(Instruction* value,
                                      const DimVector& order) {
  if (IsIdentityMapping(order)) return value;
  Instruction* t = b_->Transpose(value, order);
  moving_.insert(t);
  return t;
}

Instruction* MovingTransposes::Met(const Instruction& transpose) {
  const Instruction& moving = *transpose.operand(0);
  return Behind(moving.operand(0),
                Permuted(moving.dimensions(), transpose.dimensions()));
}

Instruction* MovingTransposes::BehindBarrier(const Instruction& barrier) {
  Instruction* all = barrier.operand(0);
  const bool one = !all->shape().IsTuple();
  if (!one && all->opcode() != Opcode::kTuple) return nullptr;
  std::vector<Instruction*> values;
  if (one) {
    values.push_back(all);
  } else {
    values.assign(all->operands().begin(), all->operands().end());
  }
  std::vector<Instruction*> inside;
  for (Instruction* x : values) {
    inside.push_back(Moves(x) ? x->operand(0) : x);
  }
  if (inside == values) return nullptr;
  Instruction* held =
      b_->OptimizationBarrier(one ? inside[0] : b_->Tuple(inside));
  for (size_t k = 0; k < values.size(); ++k) {
    Instruction* value =
        one ? held : b_->GetTupleElement(held, static_cast<int64_t>(k));
    const Instruction* x = values[k];
    if (Moves(x)) {
      value = Behind(value, {x->dimensions().begin(), x->dimensions().end()});
      if (IsOfEntry(x)) AddToEntry(value);
    }
    values[k] = value;
  }
  return one ? values[0] : b_->Tuple(values);
}

}  // namespace ptxla::hlo
