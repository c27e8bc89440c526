#include "hlo_backend/passes/loop_residency.h"

#include <map>
#include <vector>

#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/memory_places.h"
#include "hlo_backend/passes/memory_space_assignment.h"

namespace ptxla::hlo {
namespace {

void SetSpace(Shape* shape, int memory_space) {
  shape->mutable_layout()->memory_space = memory_space;
}

std::vector<Instruction*> Elements(const Instruction& tuple, int k) {
  std::vector<Instruction*> values;
  for (Instruction* user : tuple.users()) {
    if (user->opcode() == Opcode::kGetTupleElement &&
        user->tuple_index() == k) {
      values.push_back(user);
    }
  }
  return values;
}

// Everybody takes the tuple apart.
bool OnlyElements(const Instruction& tuple) {
  for (const Instruction* user : tuple.users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
  }
  return true;
}

// One loop of the entry.
class Loop {
 public:
  explicit Loop(Instruction* loop)
      : loop_(loop),
        init_(loop->operand(0)),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  bool IsPlain() const {
    return init_->opcode() == Opcode::kTuple && init_->user_count() == 1 &&
           body_->root()->opcode() == Opcode::kTuple && OnlyElements(*loop_) &&
           !loop_->IsRoot() && OnlyElements(*body_->parameter(0)) &&
           OnlyElements(*condition_->parameter(0));
  }

  // Counters and what they decide.
  bool PlaceScalars() {
    bool changed = false;
    for (int k = 0; k < init_->operand_count(); ++k) {
      if (!IsScalarUnitShape(init_->operand(k)->shape())) continue;
      if (!ReadByScalarUnit(*body_, k) || !ReadByScalarUnit(*condition_, k) ||
          !Elements(*loop_, k).empty()) {
        continue;
      }
      Instruction* next = body_->root()->operand(k);
      Instruction* start = init_->operand(k);
      if (!IsScalarUnitWork(*next) || next->user_count() != 1) continue;
      if (start->opcode() != Opcode::kCopy || start->user_count() != 1)
        continue;
      Move(k, kMemorySmem);
      changed = true;
    }
    // The condition's own work, from its elements to its root.
    for (Instruction* i : condition_->instructions()) {
      if (IsScalarUnitWork(*i) && OperandsIn(*i, kMemorySmem) &&
          (i->IsRoot() || i->user_count() > 0)) {
        SetSpace(i->mutable_shape(), kMemorySmem);
        changed = true;
      }
    }
    return changed;
  }

  // Bytes of VMEM that element k would take; 0: it cannot lie there.
  int64_t VmemBytes(int k) const {
    const Shape& shape = init_->operand(k)->shape();
    if (!shape.IsArray() || shape.IsScalar() ||
        shape.memory_space() != kMemoryHbm) {
      return 0;
    }
    if (!ReadByKernels(*body_->parameter(0), k, body_->root()) ||
        !ReadByKernels(*condition_->parameter(0), k, nullptr)) {
      return 0;
    }
    const Instruction* next = body_->root()->operand(k);
    const MemoryPlace place = PlaceOf(next);
    if (!IsVmemKernel(*place.maker) || place.maker->parent() != body_ ||
        next->opcode() == Opcode::kBitcast) {
      return 0;
    }
    for (const Instruction* user : next->users()) {
      if (user != body_->root() && !IsVmemKernel(*user)) return 0;
    }
    if (body_->root()->OperandUses(next) != 1) return 0;
    const Instruction* start = init_->operand(k);
    if (start->opcode() != Opcode::kCopy || start->user_count() != 1) return 0;
    return PaddedBytes(shape);
  }

  void PlaceInVmem(int k) { Move(k, kMemoryVmem); }

  // Element k comes in VMEM and is only read: its names say so.
  bool NameVmem(int k) {
    const Shape& shape = init_->operand(k)->shape();
    if (!shape.IsArray() || shape.memory_space() != kMemoryVmem) return false;
    const Instruction* next = body_->root()->operand(k);
    const MemoryPlace place = PlaceOf(next);
    if (place.maker != body_->parameter(0) || place.index != k) return false;
    MoveNames(k, kMemoryVmem);
    SetSpace(body_->root()->mutable_shape()->mutable_element(k), kMemoryVmem);
    return true;
  }

  // Results that leave VMEM: element -> its reader outside.
  std::vector<Instruction*> Leaving(int k) const {
    std::vector<Instruction*> values;
    for (Instruction* value : Elements(*loop_, k)) {
      bool leaves = value->IsRoot();
      for (const Instruction* user : value->users()) {
        leaves = leaves || !IsVmemKernel(*user);
      }
      if (leaves) values.push_back(value);
    }
    return values;
  }

  int state_size() const { return init_->operand_count(); }

 private:
  static bool OperandsIn(const Instruction& i, int space) {
    for (const Instruction* o : i.operands()) {
      if (o->shape().memory_space() != space) return false;
    }
    return true;
  }

  static bool ReadByScalarUnit(const Computation& c, int k) {
    for (const Instruction* value : Elements(*c.parameter(0), k)) {
      for (const Instruction* user : value->users()) {
        if (!IsScalarUnitWork(*user)) return false;
        // Its other operands must come to SMEM too.
        for (const Instruction* o : user->operands()) {
          const MemoryPlace place = PlaceOf(o);
          if (place.maker != c.parameter(0) || place.index != k) return false;
        }
      }
    }
    return true;
  }

  static bool ReadByKernels(const Instruction& state, int k,
                            const Instruction* root) {
    for (const Instruction* value : Elements(state, k)) {
      if (value->IsRoot()) return false;
      for (const Instruction* user : value->users()) {
        if (user == root || !IsVmemKernel(*user)) return false;
      }
    }
    return true;
  }

  // What names element k of the state outside of the next one.
  void MoveNames(int k, int space) {
    const auto element = [&](Instruction* tuple) {
      SetSpace(tuple->mutable_shape()->mutable_element(k), space);
      for (Instruction* value : Elements(*tuple, k)) {
        SetMemorySpace(value, -1, space);
      }
    };
    SetSpace(init_->mutable_shape()->mutable_element(k), space);
    element(loop_);
    element(body_->parameter(0));
    element(condition_->parameter(0));
  }

  void Move(int k, int space) {
    SetMemorySpace(init_->operand(k), -1, space);
    MoveNames(k, space);
    Instruction* next = body_->root()->operand(k);
    const MemoryPlace place = PlaceOf(next);
    SetMemorySpace(const_cast<Instruction*>(place.maker), place.index, space);
    SetSpace(body_->root()->mutable_shape()->mutable_element(k), space);
  }

  Instruction* loop_;
  Instruction* init_;
  Computation* body_;
  Computation* condition_;
};

}  // namespace

absl::StatusOr<bool> LoopResidencyPass::Run(Module* module,
                                            const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  int64_t room = RoomForResidents(*context.chip);
  Computation* entry = module->entry();
  bool changed = false;
  std::vector<Instruction*> order;
  for (Instruction* i : entry->instructions()) order.push_back(i);
  for (const Instruction* p : entry->parameters()) {
    if (p->shape().IsArray() && p->shape().memory_space() == kMemoryVmem) {
      room -= PaddedBytes(p->shape());
    }
  }
  std::map<Instruction*, Instruction*> after;  // value -> its copy in HBM
  for (Instruction* i : order) {
    if (i->opcode() != Opcode::kWhile) continue;
    Loop loop(i);
    if (!loop.IsPlain()) continue;
    changed |= loop.PlaceScalars();
    for (int k = 0; k < loop.state_size(); ++k) changed |= loop.NameVmem(k);
    for (int k = 0; k < loop.state_size(); ++k) {
      const int64_t bytes = loop.VmemBytes(k);
      if (bytes == 0 || bytes > room) continue;
      room -= bytes;
      changed = true;
      const std::vector<Instruction*> leaving = loop.Leaving(k);
      loop.PlaceInVmem(k);
      for (Instruction* value : leaving) {
        Shape shape = value->shape();
        SetSpace(&shape, kMemoryHbm);
        const bool is_root = entry->root() == value;
        const std::vector<Instruction*> users(value->users().begin(),
                                              value->users().end());
        Instruction* copy = entry->Add(Opcode::kCopy, shape, {value});
        for (Instruction* user : users) value->ReplaceUseIn(user, copy);
        if (is_root) entry->SetRoot(copy);
        after[value] = copy;
      }
    }
  }
  if (after.empty()) return changed;
  std::vector<Instruction*> result;
  for (Instruction* i : order) {
    result.push_back(i);
    if (const auto it = after.find(i); it != after.end()) {
      result.push_back(it->second);
    }
  }
  entry->Reorder(result);
  return true;
}

}  // namespace ptxla::hlo
