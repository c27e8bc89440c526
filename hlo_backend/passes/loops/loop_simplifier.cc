#include "hlo_backend/passes/loops/loop_simplifier.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

// One loop whose state is a tuple that all concerned take apart.
class CarriedLoop {
 public:
  explicit CarriedLoop(Instruction* loop)
      : loop_(loop),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  bool CanChange() const {
    return loop_->shape().IsTuple() &&
           loop_->operand(0)->opcode() == Opcode::kTuple &&
           body_->root()->opcode() == Opcode::kTuple &&
           IsOnlyTakenApart(*loop_) && IsOnlyTakenApart(*body_->parameter(0)) &&
           IsOnlyTakenApart(*condition_->parameter(0)) &&
           body_->root()->user_count() == 0;
  }

  bool Run() {
    const bool forwarded = ForwardInvariants();
    return RemoveDeadElements() || forwarded;
  }

 private:
  int count() const { return loop_->shape().element_count_of_tuple(); }

  bool IsHandedOn(int k) const {
    const Instruction* next = body_->root()->operand(k);
    return next->opcode() == Opcode::kGetTupleElement &&
           next->operand(0) == body_->parameter(0) && next->tuple_index() == k;
  }

  static std::vector<Instruction*> ElementsOf(const Instruction& tuple, int k) {
    std::vector<Instruction*> elements;
    for (Instruction* user : tuple.users()) {
      if (user->tuple_index() == k) elements.push_back(user);
    }
    return elements;
  }

  bool ForwardInvariants() {
    bool changed = false;
    for (int k = 0; k < count(); ++k) {
      if (!IsHandedOn(k)) continue;
      Instruction* initial = loop_->operand(0)->operand(k);
      for (Instruction* result : ElementsOf(*loop_, k)) {
        if (result->shape() != initial->shape()) continue;
        loop_->parent()->Replace(result, initial);
        changed = true;
      }
      changed |= MakeConstant(*initial, &body_, k);
      changed |= MakeConstant(*initial, &condition_, k);
    }
    return changed;
  }

  // What the computation reads of the element is a constant of its own.
  bool MakeConstant(const Instruction& initial, Computation** c, int k) {
    const Instruction* scalar =
        initial.opcode() == Opcode::kBroadcast ? initial.operand(0) : &initial;
    if (!scalar->IsConstant() || !scalar->shape().IsScalar() ||
        Readers(**c, k).empty()) {
      return false;
    }
    *c = OwnCalled(loop_, *c);
    Instruction* constant = (*c)->AddLike(*scalar, scalar->shape(), {});
    if (scalar != &initial) {
      constant = (*c)->AddLike(initial, initial.shape(), {constant});
    }
    for (const auto& [element, reader] : Readers(**c, k)) {
      element->ReplaceUseIn(reader, constant);
    }
    return true;
  }

  // Users of the element (with what they use), but for its being handed on.
  std::vector<std::pair<Instruction*, Instruction*>> Readers(
      const Computation& c, int k) const {
    std::vector<std::pair<Instruction*, Instruction*>> readers;
    for (Instruction* element : ElementsOf(*c.parameter(0), k)) {
      for (Instruction* user : element->users()) {
        if (&c == condition_ || user != c.root()) {
          readers.emplace_back(element, user);
        }
      }
    }
    return readers;
  }

  // Marks what `from` depends on in the body; returns the elements of the
  // state among it.
  void Need(const Instruction* from, std::vector<bool>* live,
            std::vector<int>* open) {
    std::vector<const Instruction*> stack = {from};
    while (!stack.empty()) {
      const Instruction* i = stack.back();
      stack.pop_back();
      if (!needed_.insert(i).second) continue;
      if (i->opcode() == Opcode::kGetTupleElement &&
          i->operand(0) == body_->parameter(0)) {
        MakeLive(static_cast<int>(i->tuple_index()), live, open);
        continue;
      }
      for (const Instruction* operand : i->operands()) stack.push_back(operand);
    }
  }

  static void MakeLive(int k, std::vector<bool>* live, std::vector<int>* open) {
    if ((*live)[k]) return;
    (*live)[k] = true;
    open->push_back(k);
  }

  std::vector<bool> LiveElements() {
    std::vector<bool> live(count(), false);
    std::vector<int> open;
    for (const Instruction* user : loop_->users()) {
      MakeLive(static_cast<int>(user->tuple_index()), &live, &open);
    }
    for (const Instruction* user : condition_->parameter(0)->users()) {
      MakeLive(static_cast<int>(user->tuple_index()), &live, &open);
    }
    for (const Instruction* i : body_->instructions()) {
      if (i->HasSideEffect()) Need(i, &live, &open);
    }
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      Need(body_->root()->operand(k), &live, &open);
    }
    return live;
  }

  bool RemoveDeadElements() {
    const std::vector<bool> live = LiveElements();
    const auto dead = std::count(live.begin(), live.end(), false);
    if (dead == 0 || dead == count()) return false;
    body_ = OwnCalled(loop_, body_);
    condition_ = OwnCalled(loop_, condition_);
    std::vector<int> place(live.size(), -1);
    std::vector<Shape> shapes;
    for (int k = 0; k < count(); ++k) {
      if (!live[k]) continue;
      place[k] = static_cast<int>(shapes.size());
      shapes.push_back(loop_->shape().element(k));
    }
    const Shape shape = Shape::Tuple(shapes);
    Computation* parent = loop_->parent();
    Instruction* state = Chosen(loop_->operand(0), live);
    body_->SetRoot(Chosen(body_->root(), live));
    body_->RemoveDead();
    for (Computation* c : {body_, condition_}) {
      *c->parameter(0)->mutable_shape() = shape;
      Renumber(c->parameter(0), place);
    }
    Instruction* smaller = parent->AddLike(*loop_, shape, {state});
    smaller->clear_sharding();
    const std::vector<Instruction*> results(loop_->users().begin(),
                                            loop_->users().end());
    Builder b(parent);
    for (Instruction* result : results) {
      parent->Replace(
          result, b.GetTupleElement(
                      smaller, place[static_cast<int>(result->tuple_index())]));
    }
    parent->Remove(loop_);
    return true;
  }

  static Instruction* Chosen(Instruction* tuple,
                             const std::vector<bool>& live) {
    std::vector<Instruction*> elements;
    for (int k = 0; k < tuple->operand_count(); ++k) {
      if (live[k]) elements.push_back(tuple->operand(k));
    }
    return Builder(tuple->parent()).Tuple(elements);
  }

  static void Renumber(Instruction* parameter, const std::vector<int>& place) {
    const std::vector<Instruction*> elements(parameter->users().begin(),
                                             parameter->users().end());
    Builder b(parameter->parent());
    for (Instruction* element : elements) {
      const int k = static_cast<int>(element->tuple_index());
      if (place[k] == k) continue;
      parameter->parent()->Replace(element,
                                   b.GetTupleElement(parameter, place[k]));
    }
  }

  Instruction* loop_;
  Computation *body_, *condition_;
  absl::flat_hash_set<const Instruction*> needed_;
};

}  // namespace

absl::StatusOr<bool> LoopSimplifierPass::Run(Module* module,
                                             const PassContext&) {
  bool any = false, changed = true;
  // What an outer loop does not need an inner one does not either, and the
  // other way round.
  while (changed) {
    changed = false;
    for (Computation* c : ControlComputations(*module)) {
      std::vector<Instruction*> loops;
      for (Instruction* i : c->instructions()) {
        if (i->opcode() == Opcode::kWhile) loops.push_back(i);
      }
      for (Instruction* i : loops) {
        CarriedLoop loop(i);
        if (loop.CanChange() && loop.Run()) changed = any = true;
      }
      if (changed) c->RemoveDead();
    }
  }
  if (any) {
    module->RemoveUnusedComputations();
    module->Compact();
  }
  return any;
}

}  // namespace ptxla::hlo
