#include "hlo_backend/passes/loops/loop_scalars.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {
namespace {

bool IsInSmem(const Instruction& i) {
  return i.shape().IsArray() && i.shape().memory_space() == kMemorySmem;
}

// The start of a loop inside of this one, whose counter lies in SMEM.
bool StartsInnerCounter(const Instruction& user, const Instruction& value) {
  if (user.opcode() != Opcode::kTuple) return false;
  const int k = user.OperandIndex(&value);
  return user.shape().element(k).memory_space() == kMemorySmem;
}

class Scalars {
 public:
  Scalars(Instruction* loop, bool kernels_read)
      : loop_(loop),
        init_(loop->operand(0)),
        body_(loop->while_body()),
        condition_(loop->while_condition()),
        kernels_read_(kernels_read) {}

  bool Run() {
    bool changed = false;
    for (int k = 0; k < init_->operand_count(); ++k) {
      Instruction* copy = body_->root()->operand(k);
      Instruction* next = CopiedCounter(copy, k);
      if (!IsCounter(k, next == nullptr ? copy : next)) continue;
      if (next != nullptr) TakePlace(next, copy);
      Place(k);
      changed = true;
    }
    // The condition's own work, from its elements to its root.
    for (Instruction* i : condition_->instructions()) {
      if (IsScalarUnitWork(*i) && AreOperandsInSmem(*i) &&
          (i->IsRoot() || i->user_count() > 0)) {
        SetSpace(i->mutable_shape(), kMemorySmem);
        changed = true;
      }
    }
    if (changed) {
      PlaceIndices();
      CopyForOthers();
    }
    return changed;
  }

 private:
  static bool AreOperandsInSmem(const Instruction& i) {
    return std::all_of(i.operands().begin(), i.operands().end(),
                       [](const Instruction* o) { return IsInSmem(*o); });
  }

  // The scalar unit's work that a copy hands on, or null: in HBM it was made
  // before the last reader of the state. The scalar unit can wait for that.
  Instruction* CopiedCounter(Instruction* copy, int k) const {
    if (copy->opcode() != Opcode::kCopy || copy->user_count() != 1) {
      return nullptr;
    }
    Instruction* next = copy->operand(0);
    return IsOfElement(*next, *body_, k) ? next : nullptr;
  }
  void TakePlace(Instruction* next, Instruction* copy) {
    std::vector<Instruction*> order;
    for (Instruction* i : body_->instructions()) {
      if (i == copy) order.push_back(next);
      if (i != copy && i != next) order.push_back(i);
    }
    body_->Replace(copy, next);
    body_->Reorder(order);
  }

  bool IsCounter(int k, const Instruction* next) const {
    const Instruction* start = init_->operand(k);
    return IsScalarUnitShape(start->shape()) && ElementsOf(*loop_, k).empty() &&
           start->opcode() == Opcode::kCopy && start->user_count() == 1 &&
           IsOfElement(*next, *body_, k) && next->user_count() == 1 &&
           ReadByScalarUnit(k);
  }

  // The scalar unit's work on nothing but the element.
  static bool IsOfElement(const Instruction& i, const Computation& c, int k) {
    if (!IsScalarUnitWork(i)) return false;
    return std::all_of(
        i.operands().begin(), i.operands().end(), [&](const Instruction* o) {
          const MemoryPlace place = PlaceOf(o);
          return place.maker == c.parameter(0) && place.index == k;
        });
  }

  bool ReadByScalarUnit(int k) const {
    for (const Instruction* value : ElementsOf(*condition_->parameter(0), k)) {
      for (const Instruction* user : value->users()) {
        if (!IsOfElement(*user, *condition_, k)) return false;
      }
    }
    for (const Instruction* value : ElementsOf(*body_->parameter(0), k)) {
      for (const Instruction* user : value->users()) {
        // No name of its memory, no state.
        if (OnlyNamesMemory(*user) || user == body_->root()) return false;
      }
    }
    return true;
  }

  bool IsReadBy(const Instruction& value, const Instruction& user) const {
    return kernels_read_ && StartsAtScalar(user, value);
  }

  void Place(int k) {
    const auto place = [](Instruction* i) {
      SetSpace(i->mutable_shape(), kMemorySmem);
    };
    place(init_->operand(k));
    place(body_->root()->operand(k));
    for (Instruction* tuple : {init_, loop_, body_->parameter(0),
                               condition_->parameter(0), body_->root()}) {
      SetSpace(tuple->mutable_shape()->mutable_element(k), kMemorySmem);
      if (tuple->opcode() == Opcode::kTuple) continue;
      for (Instruction* value : ElementsOf(*tuple, k)) place(value);
    }
  }

  // What is made of counters and says where kernels start.
  void PlaceIndices() {
    for (Instruction* i : body_->instructions()) {
      if (IsInSmem(*i) || i->operand_count() == 0 || !IsScalarUnitWork(*i) ||
          !AreOperandsInSmem(*i)) {
        continue;
      }
      bool starts = false, named = false;
      for (const Instruction* user : i->users()) {
        starts |= IsReadBy(*i, *user);
        named |= OnlyNamesMemory(*user) || user == body_->root();
      }
      if (starts && !named) SetSpace(i->mutable_shape(), kMemorySmem);
    }
  }

  void CopyForOthers() {
    std::vector<Instruction*> order;
    for (Instruction* i : body_->instructions()) order.push_back(i);
    std::vector<Instruction*> result;
    for (Instruction* i : order) {
      result.push_back(i);
      if (!IsInSmem(*i)) continue;
      std::vector<Instruction*> others;
      for (Instruction* user : i->users()) {
        if (!IsInSmem(*user) && user != body_->root() && !IsReadBy(*i, *user) &&
            !StartsInnerCounter(*user, *i)) {
          others.push_back(user);
        }
      }
      if (others.empty()) continue;
      Shape shape = i->shape();
      SetSpace(&shape, kMemoryHbm);
      Instruction* copy = body_->Add(Opcode::kCopy, shape, {i});
      for (Instruction* user : others) i->ReplaceUseIn(user, copy);
      result.push_back(copy);
    }
    if (result.size() > order.size()) body_->Reorder(result);
  }

  Instruction *loop_, *init_;
  Computation *body_, *condition_;
  const bool kernels_read_;
};

}  // namespace

bool PlaceLoopScalars(Instruction* loop, const chips::ChipSpec& chip) {
  return Scalars(loop, chip.core().cores_in_use == 1).Run();
}

}  // namespace ptxla::hlo
