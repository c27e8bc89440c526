#include "hlo_backend/passes/scheduled/carried_scalars.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {
namespace {

// Element k of the state of a loop, in all of its places.
using Element = std::pair<const Instruction*, int>;

class CarriedScalars {
 public:
  CarriedScalars(Module* module, bool kernels_read)
      : kernels_read_(kernels_read) {
    for (Computation* c : ControlComputations(*module)) {
      for (Instruction* i : c->instructions()) {
        if (i->opcode() == Opcode::kWhile && IsPlainLoop(*i)) AddLoop(i);
      }
    }
  }

  bool Run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction* loop : loops_) {
        for (int k = 0; k < loop->operand(0)->operand_count(); ++k) {
          if (!chosen_.contains(Element{loop, k}) || IsRight(*loop, k)) {
            continue;
          }
          chosen_.erase(Element{loop, k});
          changed = true;
        }
      }
    }
    for (Instruction* loop : loops_) {
      for (int k = 0; k < loop->operand(0)->operand_count(); ++k) {
        if (chosen_.contains(Element{loop, k})) Place(loop, k);
      }
    }
    return !chosen_.empty();
  }

 private:
  void AddLoop(Instruction* loop) {
    loops_.push_back(loop);
    for (const Instruction* state :
         {loop->operand(0), loop, loop->while_body()->parameter(0),
          loop->while_condition()->parameter(0), loop->while_body()->root()}) {
      loop_of_[state] = loop;
    }
    for (int k = 0; k < loop->operand(0)->operand_count(); ++k) {
      const Shape& shape = loop->shape().element(k);
      if (IsScalarUnitShape(shape) && shape.has_layout()) {
        chosen_.insert(Element{loop, k});
      }
    }
  }

  // The element that a get-tuple-element takes out of a state; no loop: none.
  Element ElementOf(const Instruction& i) const {
    if (i.opcode() != Opcode::kGetTupleElement) return {nullptr, 0};
    const auto it = loop_of_.find(i.operand(0));
    if (it == loop_of_.end()) return {nullptr, 0};
    return {it->second, static_cast<int>(i.tuple_index())};
  }

  // Does the scalar unit make the value?
  bool IsUnits(const Instruction& i) const {
    if (i.opcode() == Opcode::kCopy) return IsUnits(*i.operand(0));
    return i.IsConstant() || IsScalarUnitWork(i) ||
           chosen_.contains(ElementOf(i));
  }

  // Somebody who is better off if the value lies in SMEM. What hands it on to
  // another iteration or loop is, if that element lies there.
  bool IsReader(const Instruction& user, const Instruction& value) const {
    if (IsScalarUnitWork(user)) return true;
    const auto reads = [&](const Instruction* next) {
      return IsReader(*next, user);
    };
    switch (user.opcode()) {
      case Opcode::kCopy:
        return user.shape().memory_space() == kMemorySmem ||
               std::any_of(user.users().begin(), user.users().end(), reads);
      case Opcode::kTuple:
        for (const Element& element : ElementsAt(user, value)) {
          if (chosen_.contains(element)) return true;
        }
        return false;
      case Opcode::kConditional:
        return user.operand(0) == &value;
      default:
        return (kernels_read_ || IsInPlace(user)) && MayReadInSmem(user, value);
    }
  }

  // Which elements of a loop's state the value is or becomes by the tuple.
  std::vector<Element> ElementsAt(const Instruction& tuple,
                                  const Instruction& value) const {
    std::vector<Element> elements;
    const auto it = loop_of_.find(&tuple);
    if (it == loop_of_.end()) return elements;
    for (int k = 0; k < tuple.operand_count(); ++k) {
      if (tuple.operand(k) == &value) elements.push_back({it->second, k});
    }
    return elements;
  }

  bool IsRight(const Instruction& loop, int k) const {
    const Instruction& root = *loop.while_body()->root();
    bool read = false;
    for (const Instruction* state : {loop.while_body()->parameter(0),
                                     loop.while_condition()->parameter(0)}) {
      for (const Instruction* value : ElementsOf(*state, k)) {
        for (const Instruction* user : value->users()) {
          if (user != &root) {
            read |= IsReader(*user, *value);
          } else if (root.operand(k) != value || root.OperandUses(value) > 1) {
            return false;  // another element's memory, too
          }
        }
      }
    }
    return read && IsUnits(*root.operand(k));
  }

  void Place(Instruction* loop, int k) {
    Instruction* root = loop->while_body()->root();
    Instruction* start = loop->operand(0);
    for (Instruction* tuple : {start, loop, loop->while_body()->parameter(0),
                               loop->while_condition()->parameter(0), root}) {
      SetSpace(tuple->mutable_shape()->mutable_element(k), kMemorySmem);
      if (tuple->opcode() == Opcode::kTuple) continue;
      for (Instruction* value : ElementsOf(*tuple, k)) {
        SetSpace(value->mutable_shape(), kMemorySmem);
      }
    }
    for (Instruction* made : {start->operand(k), root->operand(k)}) {
      if (made->opcode() == Opcode::kCopy || IsScalarUnitWork(*made)) {
        SetSpace(made->mutable_shape(), kMemorySmem);
      }
    }
  }

  const bool kernels_read_;
  std::vector<Instruction*> loops_;
  absl::flat_hash_map<const Instruction*, const Instruction*> loop_of_;
  absl::flat_hash_set<Element> chosen_;
};

// What hands on several values has none of them in SMEM.
bool LeaveSmem(Module* module) {
  bool changed = false;
  const auto leave = [&](Shape* shape) {
    if (!shape->IsArray() || shape->memory_space() != kMemorySmem) return;
    SetSpace(shape, kMemoryHbm);
    changed = true;
  };
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->instructions()) {
      const bool state =
          i->opcode() == Opcode::kTuple || i->opcode() == Opcode::kWhile ||
          i->opcode() == Opcode::kParameter || i->opcode() == Opcode::kCall ||
          i->opcode() == Opcode::kConditional;
      if (!state) continue;
      leave(i->mutable_shape());
      for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
        leave(i->mutable_shape()->mutable_element(k));
      }
    }
  }
  return changed;
}

}  // namespace

bool PlaceCarriedScalars(Module* module, bool kernels_read) {
  const bool left = LeaveSmem(module);
  return CarriedScalars(module, kernels_read).Run() || left;
}

}  // namespace ptxla::hlo
