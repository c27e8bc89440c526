#include "hlo_backend/passes/loops/counter_narrowing.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

bool Fits(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// The scalar constant that a value is.
const Instruction* ConstantOf(const Instruction* i) {
  while (i->opcode() == Opcode::kBroadcast && i->shape().IsScalar()) {
    i = i->operand(0);
  }
  return i->IsConstant() && i->shape().IsScalar() && !i->literal().IsElided()
             ? i
             : nullptr;
}

class Counter {
 public:
  explicit Counter(Instruction* loop) : loop_(loop) {}

  bool Run() {
    if (!IsNarrow()) return false;
    Builder before(loop_->parent());
    loop_->ReplaceOperand(0, WithNarrow(before, loop_->operand(0)));
    *loop_->mutable_shape() = loop_->operand(0)->shape();
    for (Computation* c : {loop_->while_body(), loop_->while_condition()}) {
      *c->parameter(0)->mutable_shape() = loop_->shape();
      Widen(c->parameter(0));
    }
    Computation* body = loop_->while_body();
    Builder inside(body);
    body->SetRoot(WithNarrow(inside, body->root()));
    Widen(loop_);
    body->RemoveDead();
    loop_->while_condition()->RemoveDead();
    return true;
  }

 private:
  bool IsNarrow() {
    Computation* body = loop_->while_body();
    Computation* condition = loop_->while_condition();
    if (!loop_->shape().IsTuple() ||
        loop_->operand(0)->opcode() != Opcode::kTuple ||
        body->root()->opcode() != Opcode::kTuple ||
        body->root()->user_count() != 0 || body->callers().size() != 1 ||
        condition->callers().size() != 1 || !IsOnlyTakenApart(*loop_) ||
        !IsOnlyTakenApart(*body->parameter(0)) ||
        !IsOnlyTakenApart(*condition->parameter(0))) {
      return false;
    }
    const std::optional<TripCount> trips = TripCountOf(*loop_);
    if (!trips || trips->induction_index < 0 || !Fits(trips->count) ||
        !Fits(trips->step)) {
      return false;
    }
    index_ = static_cast<int>(trips->induction_index);
    const Shape& shape = loop_->shape().element(index_);
    return shape.type() == PrimitiveType::kS64 && shape.IsScalar() &&
           Fits(trips->init) && Fits(trips->init + trips->count * trips->step);
  }

  // The tuple with a counter of 32 bits.
  Instruction* WithNarrow(Builder& b, Instruction* tuple) {
    std::vector<Instruction*> elements(tuple->operands().begin(),
                                       tuple->operands().end());
    elements[index_] = Narrow(b, elements[index_]);
    return b.Tuple(elements);
  }

  // The low 32 bits, made of 32 bits where that is known to be the same.
  static Instruction* Narrow(Builder& b, Instruction* i) {
    if (i->opcode() == Opcode::kConvert &&
        i->operand(0)->shape().type() == kS32) {
      return i->operand(0);
    }
    if (const Instruction* constant = ConstantOf(i);
        constant != nullptr && Fits(constant->literal().GetInt(0))) {
      return b.ConstantScalar(
          kS32, static_cast<double>(constant->literal().GetInt(0)));
    }
    if (i->opcode() == Opcode::kAdd || i->opcode() == Opcode::kSubtract) {
      return b.Binary(i->opcode(), Narrow(b, i->operand(0)),
                      Narrow(b, i->operand(1)));
    }
    return b.Convert(i, kS32);
  }

  // What read the counter of `state` reads it converted, or compares 32 bits.
  void Widen(Instruction* state) {
    const std::vector<Instruction*> elements(state->users().begin(),
                                             state->users().end());
    Computation* c = state->parent();
    Builder b(c);
    for (Instruction* element : elements) {
      if (element->tuple_index() != index_) continue;
      Instruction* counter = b.GetTupleElement(state, index_);
      const std::vector<Instruction*> users(element->users().begin(),
                                            element->users().end());
      c->Replace(element, b.Convert(counter, PrimitiveType::kS64));
      for (Instruction* user : users) {
        if (user->opcode() == Opcode::kCompare) CompareNarrow(b, user);
      }
    }
  }

  static bool IsNarrowed(const Instruction* i) {
    const Instruction* constant = ConstantOf(i);
    return constant != nullptr ? Fits(constant->literal().GetInt(0))
                               : i->opcode() == Opcode::kConvert &&
                                     i->operand(0)->shape().type() == kS32;
  }
  static void CompareNarrow(Builder& b, Instruction* compare) {
    if (!IsNarrowed(compare->operand(0)) || !IsNarrowed(compare->operand(1))) {
      return;
    }
    compare->parent()->Replace(
        compare, b.Compare(Narrow(b, compare->operand(0)),
                           Narrow(b, compare->operand(1)),
                           compare->attrs<CompareAttrs>().direction));
  }

  Instruction* loop_;
  int index_ = -1;
};

}  // namespace

absl::StatusOr<bool> CounterNarrowingPass::Run(Module* module,
                                               const PassContext&) {
  bool any = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> loops;
    for (Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kWhile) loops.push_back(i);
    }
    bool changed = false;
    for (Instruction* i : loops) changed |= Counter(i).Run();
    if (changed) c->RemoveDead();
    any |= changed;
  }
  return any;
}

}  // namespace ptxla::hlo
