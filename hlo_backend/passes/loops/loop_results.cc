#include "hlo_backend/passes/loops/loop_results.h"

#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

// Under a reshape, where the kernel that makes the value rounds it, too.
Instruction* Rounded(Builder& b, Instruction* x) {
  if (x->opcode() != Opcode::kReshape) {
    return b.Convert(x, PrimitiveType::kBf16);
  }
  return b.Reshape(Rounded(b, x->operand(0)), x->shape().dims());
}

class FilledStacks {
 public:
  explicit FilledStacks(Instruction* loop)
      : loop_(loop),
        start_(loop->operand(0)),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  bool Round(int k) {
    if (!IsStack(k) || !IsFilledAlone(k) || !IsReadRounded(k)) return false;
    Builder before(loop_->parent()), inside(body_);
    before.set_metadata(start_->operand(k)->shared_metadata());
    const Instruction& fill = *start_->operand(k);
    start_->ReplaceOperand(
        k,
        before.Broadcast(before.Convert(fill.operand(0), PrimitiveType::kBf16),
                         fill.shape().dims(), fill.dimensions()));
    for (Instruction* state : {start_, loop_, body_->parameter(0),
                               condition_->parameter(0), body_->root()}) {
      state->mutable_shape()->mutable_element(k)->set_type(
          PrimitiveType::kBf16);
    }
    Instruction* update = body_->root()->operand(k);
    inside.set_metadata(update->shared_metadata());
    update->ReplaceOperand(1, Rounded(inside, update->operand(1)));
    update->mutable_shape()->set_type(PrimitiveType::kBf16);
    update->operand(0)->mutable_shape()->set_type(PrimitiveType::kBf16);
    for (Instruction* value : ElementsOf(*loop_, k)) {
      value->mutable_shape()->set_type(PrimitiveType::kBf16);
      const std::vector<Instruction*> converts(value->users().begin(),
                                               value->users().end());
      for (Instruction* c : converts) c->ReplaceAllUsesWith(value);
    }
    return true;
  }

  int state_size() const { return start_->operand_count(); }

 private:
  // One value for all of it in the beginning: its rounding costs nothing.
  bool IsStack(int k) const {
    const Shape& shape = start_->operand(k)->shape();
    return shape.IsArray() && !shape.IsScalar() && !shape.has_layout() &&
           shape.type() == PrimitiveType::kF32 &&
           start_->operand(k)->opcode() == Opcode::kBroadcast &&
           ElementsOf(*condition_->parameter(0), k).empty();
  }

  // An iteration puts a part into it and does nothing else with it.
  bool IsFilledAlone(int k) const {
    const Instruction* update = body_->root()->operand(k);
    if (update->opcode() != Opcode::kDynamicUpdateSlice ||
        update->user_count() != 1 || body_->root()->OperandUses(update) != 1) {
      return false;
    }
    const std::vector<Instruction*> values =
        ElementsOf(*body_->parameter(0), k);
    return values.size() == 1 && values[0]->user_count() == 1 &&
           update->operand(0) == values[0] && update->operand(1) != values[0];
  }

  bool IsReadRounded(int k) const {
    const std::vector<Instruction*> values = ElementsOf(*loop_, k);
    for (const Instruction* value : values) {
      if (value->IsRoot() || value->users().empty()) return false;
      for (const Instruction* user : value->users()) {
        if (user->opcode() != Opcode::kConvert ||
            user->shape().type() != PrimitiveType::kBf16 || user->IsRoot() ||
            HasControlEdges(*user)) {
          return false;
        }
      }
    }
    return !values.empty();
  }

  Instruction* loop_;
  Instruction* start_;
  Computation* body_;
  Computation* condition_;
};

}  // namespace

absl::StatusOr<bool> LoopResultsPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : PlainLoopsIn(*c)) {
      FilledStacks loop(i);
      for (int k = 0; k < loop.state_size(); ++k) here |= loop.Round(k);
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo
