#include "hlo_backend/passes/layout/moving_transposes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {

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
    DimVector order;  // empty: as the dimensions are
    if (Moves(x)) {
      order.assign(x->dimensions().begin(), x->dimensions().end());
    } else if (!IsOfEntry(x)) {
      continue;
    }
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

}  // namespace ptxla::hlo
