#include "hlo_backend/passes/loops/loop_orders.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

DimVector InverseOf(absl::Span<const int64_t> order) {
  DimVector inverse(order.size());
  for (size_t d = 0; d < order.size(); ++d) {
    inverse[order[d]] = static_cast<int64_t>(d);
  }
  return inverse;
}

// Element k of a loop's state, which lies in another order outside.
class Stack {
 public:
  Stack(Instruction* loop, int k)
      : loop_(loop),
        start_(loop->operand(0)),
        body_(loop->while_body()),
        k_(k) {}

  bool Reorder() {
    if (!FindOrder() || !OnlyCut()) return false;
    const Shape outside = Turned(start_->operand(k_)->shape());
    ReplaceStart(outside);
    for (Instruction* tuple :
         {start_, loop_, body_->parameter(0),
          loop_->while_condition()->parameter(0), body_->root()}) {
      *tuple->mutable_shape()->mutable_element(k_) = outside;
    }
    for (Instruction* value : ElementsOf(*body_->parameter(0), k_)) {
      *value->mutable_shape() = outside;
      const std::vector<Instruction*> users(value->users().begin(),
                                            value->users().end());
      for (Instruction* user : users) {
        // Either takes the user away.
        if (user->opcode() == Opcode::kDynamicSlice) {
          Cut(value, user);
        } else if (user->opcode() == Opcode::kDynamicUpdateSlice) {
          Update(value, user);
        }
      }
    }
    for (Instruction* value : ElementsOf(*loop_, k_)) {
      *value->mutable_shape() = outside;
      const std::vector<Instruction*> users(value->users().begin(),
                                            value->users().end());
      for (Instruction* user : users) loop_->parent()->Replace(user, value);
    }
    return true;
  }

 private:
  // order_: of the outer array, the dimension inside that each of its own is.
  bool FindOrder() {
    const Instruction& start = *start_->operand(k_);
    if (!start.shape().IsArray() || start.shape().rank() < 3 ||
        start.shape().has_layout()) {
      return false;
    }
    if (start.opcode() == Opcode::kTranspose) {
      order_ = InverseOf(start.dimensions());
    } else if (start.opcode() != Opcode::kBroadcast ||
               !start.operand(0)->shape().IsScalar()) {
      return false;
    }
    for (const Instruction* value : ElementsOf(*loop_, k_)) {
      if (value->IsRoot() || value->user_count() == 0) return false;
      for (const Instruction* user : value->users()) {
        if (user->opcode() != Opcode::kTranspose) return false;
        const DimVector order(user->dimensions().begin(),
                              user->dimensions().end());
        if (order_.empty()) order_ = order;
        if (order_ != order) return false;
      }
    }
    return !order_.empty() && !IsIncreasing(order_);
  }

  // What a slice or an update of `part` takes from dimensions outside of the
  // minor ones, in either order.
  bool CutsMajors(const Shape& whole, const Shape& part) const {
    const DimVector to = InverseOf(order_);
    for (int d = 0; d < whole.rank(); ++d) {
      if (whole.dim(d) != part.dim(d) && to[d] >= whole.rank() - 2) {
        return false;
      }
    }
    return true;
  }

  bool OnlyCut() const {
    const Instruction& root = *body_->root();
    const Instruction& next = *root.operand(k_);
    if (!ElementsOf(*loop_->while_condition()->parameter(0), k_).empty()) {
      return false;
    }
    const auto is_state = [&](const Instruction& i) {
      return i.opcode() == Opcode::kGetTupleElement &&
             i.operand(0) == body_->parameter(0) && i.tuple_index() == k_;
    };
    const bool updated = next.opcode() == Opcode::kDynamicUpdateSlice &&
                         next.user_count() == 1 &&
                         root.OperandUses(&next) == 1 &&
                         is_state(*next.operand(0));
    if (!updated && !is_state(next)) return false;
    for (const Instruction* value : ElementsOf(*body_->parameter(0), k_)) {
      for (const Instruction* user : value->users()) {
        if (user->OperandUses(value) != 1) return false;
        if (user == &root && value == &next) continue;
        const bool slice = user->opcode() == Opcode::kDynamicSlice;
        if (!slice && user != &next) return false;
        if (user->OperandIndex(value) != 0 ||
            !CutsMajors(value->shape(),
                        slice ? user->shape() : user->operand(1)->shape())) {
          return false;
        }
      }
    }
    return true;
  }

  Shape Turned(const Shape& inside) const {
    return Shape::Array(inside.type(), Permuted(inside.dims(), order_));
  }

  void ReplaceStart(const Shape& outside) {
    Instruction* start = start_->operand(k_);
    Instruction* value =
        start->opcode() == Opcode::kTranspose
            ? start->operand(0)
            : start_->parent()->Add(Opcode::kBroadcast, outside,
                                    {start->operand(0)}, DimensionsAttrs{});
    start_->ReplaceOperand(k_, value);
  }

  // Start indices of a slice or update from operand `first` on, turned.
  std::vector<Instruction*> Starts(const Instruction& i, int first) const {
    std::vector<Instruction*> starts;
    for (const int64_t d : order_) {
      starts.push_back(i.operand(first + static_cast<int>(d)));
    }
    return starts;
  }

  void Cut(Instruction* value, Instruction* slice) {
    const Shape part = Turned(slice->shape());
    std::vector<Instruction*> operands = Starts(*slice, 1);
    operands.insert(operands.begin(), value);
    const DimVector sizes(part.dims().begin(), part.dims().end());
    Instruction* turned = body_->Add(Opcode::kDynamicSlice, part, operands,
                                     DynamicSliceAttrs{sizes});
    body_->Replace(slice,
                   body_->Add(Opcode::kTranspose, slice->shape(), {turned},
                              DimensionsAttrs{InverseOf(order_)}));
  }

  void Update(Instruction* value, Instruction* update) {
    Instruction* part =
        body_->Add(Opcode::kTranspose, Turned(update->operand(1)->shape()),
                   {update->operand(1)}, DimensionsAttrs{order_});
    std::vector<Instruction*> operands = Starts(*update, 2);
    operands.insert(operands.begin(), {value, part});
    Instruction* next =
        body_->Add(Opcode::kDynamicUpdateSlice, value->shape(), operands);
    body_->root()->ReplaceOperand(k_, next);
    body_->Remove(update);
  }

  Instruction* loop_;
  Instruction* start_;
  Computation* body_;
  const int k_;
  DimVector order_;
};

}  // namespace

absl::StatusOr<bool> LoopOrdersPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* loop : PlainLoopsIn(*c)) {
      for (int k = 0; k < loop->operand(0)->operand_count(); ++k) {
        changed |= Stack(loop, k).Reorder();
      }
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
