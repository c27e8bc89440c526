#include "hlo_backend/passes/scheduled/scalar_unit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/scheduled/fusion_splitter.h"

namespace ptxla::hlo {
namespace {

bool InSmem(const Shape& shape) {
  return shape.IsArray() && shape.memory_space() == kMemorySmem;
}

// All that it has in SMEM says where it starts.
bool OnlyStartsThere(const Instruction& i) {
  return !InSmem(i.shape()) &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return !InSmem(o->shape()) || StartsAtScalar(i, *o);
                     });
}

// Do all scalars in SMEM stay with the scalar unit, as ours do: copied there,
// handed on by loops, worked on among themselves, read by kernels that start
// where they say?
bool StaysInSmem(const Module& module, bool kernels_read) {
  for (const Computation* c : ControlComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      size_t inside = 0;
      for (const Instruction* o : i->operands()) inside += InSmem(o->shape());
      if (inside == 0 && !InSmem(i->shape())) continue;
      switch (i->opcode()) {
        case Opcode::kCopy:
        case Opcode::kGetTupleElement:
        case Opcode::kParameter:
        case Opcode::kTuple:
        case Opcode::kWhile:
          continue;
        default:
          break;
      }
      if (kernels_read && OnlyStartsThere(*i)) continue;
      if (!IsScalarUnitWork(*i) || !InSmem(i->shape()) ||
          static_cast<int>(inside) != i->operand_count()) {
        return false;
      }
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
  shape->mutable_layout()->memory_space = 0;
  return true;
}

bool LeaveSmem(Module* module) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      changed |= LeaveSmem(i->mutable_shape());
    }
  }
  return changed;
}

bool HandsOn(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kWhile:
      return true;
    default:
      return false;
  }
}

bool TouchesSmem(const Instruction& i) {
  return InSmem(i.shape()) ||
         std::any_of(i.operands().begin(), i.operands().end(),
                     [](const Instruction* o) { return InSmem(o->shape()); });
}

// Scalars in SMEM that others than single instructions hand on.
bool AreHandedOn(const Module& module) {
  for (const Computation* c : ControlComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      if (HandsOn(i->opcode()) && TouchesSmem(*i)) return true;
      if (i->IsRoot() && InSmem(i->shape())) return true;
    }
  }
  return false;
}

Shape In(Shape shape, int memory_space) {
  shape.mutable_layout()->memory_space = memory_space;
  return shape;
}

class Placer {
 public:
  explicit Placer(Computation* c) : c_(c) {}

  bool Run() {
    std::vector<Instruction*> work;
    for (Instruction* i : c_->instructions()) {
      if (i->IsRoot() || !TouchesSmem(*i)) continue;
      // A copy to SMEM stays one.
      const bool copied = i->opcode() == Opcode::kCopy && InSmem(i->shape()) &&
                          IsScalarUnitShape(i->shape());
      if (!copied && !IsScalarUnitWork(*i)) continue;
      work.push_back(i);
      on_unit_.insert(i);
    }
    bool changed = !work.empty();
    for (Instruction* i : c_->instructions()) {
      if (!on_unit_.contains(i)) changed |= LeaveSmem(i);
    }
    for (Instruction* i : work) {
      *i->mutable_shape() = In(i->shape(), kMemorySmem);
    }
    for (Instruction* i : work) ToOthers(i);
    for (Instruction* i : work) TakeOperands(i);
    return changed;
  }

 private:
  static bool LeaveSmem(Instruction* i) {
    bool changed = hlo::LeaveSmem(i->mutable_shape());
    if (i->opcode() != Opcode::kFusion) return changed;
    for (Instruction* inside : i->fused()->instructions()) {
      changed |= hlo::LeaveSmem(inside->mutable_shape());
    }
    return changed;
  }

  // Users that are kernels read a copy.
  void ToOthers(Instruction* i) {
    std::vector<Instruction*> others;
    for (Instruction* user : i->users()) {
      if (!on_unit_.contains(user) && user->opcode() != Opcode::kCopy) {
        others.push_back(user);
      }
    }
    if (others.empty()) return;
    Instruction* copy = c_->Add(Opcode::kCopy, In(i->shape(), kMemoryHbm), {i});
    for (Instruction* user : others) i->ReplaceUseIn(user, copy);
  }

  void TakeOperands(Instruction* i) {
    if (i->opcode() == Opcode::kCopy) return;
    std::vector<Instruction*> group;
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (on_unit_.contains(o) || InSmem(o->shape())) continue;
      if (o->IsConstant() && i->opcode() != Opcode::kFusion) {
        Instruction* own = c_->AddLike(*o, o->shape(), {});
        i->ReplaceOperand(k, own);
        group.push_back(own);
        continue;
      }
      Instruction*& copy = copies_[o];
      if (copy == nullptr) {
        copy = c_->Add(Opcode::kCopy, In(o->shape(), kMemorySmem), {o});
      }
      i->ReplaceOperand(k, copy);
    }
    if (group.empty()) return;
    const std::string name = PartName(*i);
    const Shape shape = i->shape();
    group.push_back(i);
    Instruction* fusion = c_->CreateFusion(group, FusionKind::kLoop);
    fusion->set_name(name);
    *fusion->mutable_shape() = shape;
  }

  Computation* c_;
  absl::flat_hash_set<const Instruction*> on_unit_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;  // in SMEM
};

}  // namespace

bool PlaceScalars(Module* module, bool kernels_read) {
  if (StaysInSmem(*module, kernels_read)) return false;
  if (AreHandedOn(*module)) return LeaveSmem(module);
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    if (!Placer(c).Run()) continue;
    c->Reorder(c->PostOrder());
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
