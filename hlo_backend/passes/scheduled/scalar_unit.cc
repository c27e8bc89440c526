#include "hlo_backend/passes/scheduled/scalar_unit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/scheduled/carried_scalars.h"
#include "hlo_backend/passes/scheduled/part_names.h"

namespace ptxla::hlo {
namespace {

bool InSmem(const Shape& shape) {
  return shape.IsArray() && shape.memory_space() == kMemorySmem;
}

// A kernel whose operands in SMEM it may read there.
bool OnlyReadsThere(const Instruction& i) {
  return !InSmem(i.shape()) &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return !InSmem(o->shape()) || MayReadInSmem(i, *o);
                     });
}

// Does all that touches SMEM leave it to the scalar unit, as ours does: copied
// there, handed on by loops, worked on among itself, read by kernels?
bool IsPlaced(const Instruction& i, bool kernels_read) {
  int inside = 0;
  for (const Instruction* o : i.operands()) inside += InSmem(o->shape());
  if (inside == 0 && !InSmem(i.shape())) {
    // Our constants are part of the work.
    return i.opcode() == Opcode::kFusion || !IsScalarUnitWork(i) ||
           std::none_of(i.operands().begin(), i.operands().end(),
                        [](const Instruction* o) { return o->IsConstant(); });
  }
  switch (i.opcode()) {
    case Opcode::kConditional:
    case Opcode::kCopy:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      break;
  }
  if ((kernels_read || IsInPlace(i)) && OnlyReadsThere(i)) return true;
  return IsScalarUnitWork(i) && InSmem(i.shape()) &&
         inside == i.operand_count();
}

bool IsPlaced(const Module& module, bool kernels_read) {
  for (const Computation* c : ControlComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      if (!IsPlaced(*i, kernels_read)) return false;
    }
  }
  return true;
}

bool LeaveSmem(Shape* shape) {
  bool changed = false;
  for (int k = 0; k < shape->element_count_of_tuple(); ++k) {
    changed |= LeaveSmem(shape->mutable_element(k));
  }
  if (!InSmem(*shape)) return changed;
  SetSpace(shape, kMemoryHbm);
  return true;
}

Shape In(Shape shape, int memory_space) {
  SetSpace(&shape, memory_space);
  return shape;
}

bool IsCondition(const Computation& c) {
  for (const Instruction* caller : c.callers()) {
    if (caller->opcode() == Opcode::kWhile && caller->while_condition() == &c) {
      return true;
    }
  }
  return false;
}

// An element in SMEM of a state that a loop carries.
bool IsCarried(const Instruction& i) {
  return i.opcode() == Opcode::kGetTupleElement &&
         (i.operand(0)->opcode() == Opcode::kParameter ||
          i.operand(0)->opcode() == Opcode::kWhile) &&
         InSmem(
             i.operand(0)->shape().element(static_cast<int>(i.tuple_index())));
}

// The scalars of one computation.
class Placer {
 public:
  Placer(Computation* c, bool kernels_read)
      : c_(c), is_condition_(IsCondition(*c)), kernels_read_(kernels_read) {}

  bool Run() {
    bool changed = Find();
    changed |= !on_unit_.empty();
    for (Instruction* i : order_) {
      if (i->opcode() == Opcode::kTuple) TakeElements(i);
      if (!on_unit_.contains(i)) continue;
      ToOthers(i);
      if (!IsCarried(*i)) TakeOperands(i);
    }
    if (changed) PutInOrder();
    return changed;
  }

 private:
  // What is on the unit; all else leaves SMEM. Whether anything did.
  bool Find() {
    for (Instruction* i : c_->instructions()) {
      order_.push_back(i);
      if (IsCarried(*i) || (IsWork(*i) && TouchesSmem(*i))) on_unit_.insert(i);
    }
    bool changed = false;
    for (Instruction* i : order_) {
      if (on_unit_.contains(i)) {
        SetSpace(i->mutable_shape(), kMemorySmem);
      } else if (!HandsOn(*i)) {
        changed |= LeaveSmem(i);
      }
    }
    return changed;
  }

  // A copy to SMEM stays one; one that the unit reads might be.
  bool IsWork(const Instruction& i) const {
    if (i.IsRoot() && !is_condition_) return false;
    if (i.opcode() != Opcode::kCopy) return IsScalarUnitWork(i);
    return IsScalarUnitShape(i.shape()) &&
           (InSmem(i.shape()) || std::any_of(i.users().begin(), i.users().end(),
                                             [](const Instruction* user) {
                                               return IsScalarUnitWork(*user);
                                             }));
  }

  bool TouchesSmem(const Instruction& i) const {
    return InSmem(i.shape()) ||
           std::any_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* o) {
                         return InSmem(o->shape()) || on_unit_.contains(o);
                       });
  }

  // Where loops have the elements says its shape already.
  static bool HandsOn(const Instruction& i) {
    return i.opcode() == Opcode::kTuple || i.opcode() == Opcode::kWhile ||
           i.opcode() == Opcode::kParameter;
  }

  static bool LeaveSmem(Instruction* i) {
    bool changed = hlo::LeaveSmem(i->mutable_shape());
    if (i->opcode() != Opcode::kFusion) return changed;
    for (Instruction* inside : i->fused()->instructions()) {
      changed |= hlo::LeaveSmem(inside->mutable_shape());
    }
    return changed;
  }

  Instruction* CopyIn(Instruction* value, int memory_space) {
    return c_->Add(Opcode::kCopy, In(value->shape(), memory_space), {value});
  }

  bool ReadsThere(const Instruction& user, const Instruction& value) const {
    const bool chooses = user.opcode() == Opcode::kConditional &&
                         user.OperandUses(&value) == 1 &&
                         user.operand(0) == &value;
    return chooses ||
           ((kernels_read_ || IsInPlace(user)) && MayReadInSmem(user, value));
  }

  // Users that do not read it in SMEM read a copy.
  void ToOthers(Instruction* i) {
    Instruction* copy = nullptr;
    const auto copied = [&] {
      if (copy == nullptr) {
        copy = behind_[i] = CopyIn(i, kMemoryHbm);
      }
      return copy;
    };
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (Instruction* user : users) {
      if (on_unit_.contains(user) || user->opcode() == Opcode::kCopy) continue;
      const bool reads = ReadsThere(*user, *i);
      for (int k = 0; k < user->operand_count(); ++k) {
        if (user->operand(k) != i) continue;
        if (user->opcode() == Opcode::kTuple ? !InSmem(user->shape().element(k))
                                             : !reads) {
          user->ReplaceOperand(k, copied());
        } else if (user->opcode() == Opcode::kFusion) {
          SetSpace(user->fused()->parameter(k)->mutable_shape(), kMemorySmem);
        }
      }
    }
    if (i->IsRoot() && !is_condition_) c_->SetRoot(copied());
  }

  // What loops carry in SMEM begins there: every element has its own memory.
  void TakeElements(Instruction* tuple) {
    for (int k = 0; k < tuple->operand_count(); ++k) {
      Instruction* o = tuple->operand(k);
      if (!InSmem(tuple->shape().element(k)) || on_unit_.contains(o)) continue;
      Instruction* own = CopyIn(o, kMemorySmem);
      before_[tuple].push_back(own);
      tuple->ReplaceOperand(k, own);
      if (o->IsConstant()) with_constants_.insert(own);
    }
  }

  void TakeOperands(Instruction* i) {
    const bool is_copy = i->opcode() == Opcode::kCopy;
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (on_unit_.contains(o)) continue;
      if (o->IsConstant() && i->opcode() != Opcode::kFusion) {
        if (i->user_count() > 0 || i->IsRoot()) with_constants_.insert(i);
        continue;
      }
      if (is_copy) continue;
      Instruction*& copy = copies_[o];
      if (copy == nullptr) {
        copy = CopyIn(o, kMemorySmem);
        before_[i].push_back(copy);
      }
      i->ReplaceOperand(k, copy);
    }
  }

  // A fusion of the work and its constants; of a copy, the constant alone.
  Instruction* FuseConstants(Instruction* i) {
    const std::string name = PartName(*i);
    const Shape shape = i->shape();
    std::vector<Instruction*> group;
    for (int k = 0; k < i->operand_count(); ++k) {
      const Instruction* o = i->operand(k);
      if (!o->IsConstant()) continue;
      group.push_back(c_->AddLike(*o, o->shape(), {}));
      i->ReplaceOperand(k, group.back());
    }
    if (i->opcode() == Opcode::kCopy) {
      c_->Replace(i, group.back());
    } else {
      group.push_back(i);
    }
    Instruction* fusion = c_->CreateFusion(group, FusionKind::kLoop);
    fusion->set_name(name);
    *fusion->mutable_shape() = shape;
    return fusion;
  }

  void PutInOrder() {
    std::vector<Instruction*> order;
    for (Instruction* i : order_) {
      const auto before = before_.find(i);
      if (before != before_.end()) {
        order.insert(order.end(), before->second.begin(), before->second.end());
      }
      order.push_back(i);
      const auto behind = behind_.find(i);
      if (behind != behind_.end()) order.push_back(behind->second);
    }
    std::vector<size_t> fused;
    for (size_t n = 0; n < order.size(); ++n) {
      if (with_constants_.contains(order[n])) fused.push_back(n);
    }
    for (const size_t n : fused) order[n] = FuseConstants(order[n]);
    c_->Reorder(order);
  }

  Computation* c_;
  const bool is_condition_, kernels_read_;
  std::vector<Instruction*> order_;  // as it was
  absl::flat_hash_set<const Instruction*> on_unit_, with_constants_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;  // in SMEM
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> before_;
  absl::flat_hash_map<const Instruction*, Instruction*> behind_;
};

}  // namespace

bool PlaceScalars(Module* module, bool kernels_read) {
  if (IsPlaced(*module, kernels_read)) return false;
  bool changed = PlaceCarriedScalars(module, kernels_read);
  for (Computation* c : ControlComputations(*module)) {
    changed |= Placer(c, kernels_read).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
