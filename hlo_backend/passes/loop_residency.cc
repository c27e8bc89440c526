#include "hlo_backend/passes/loop_residency.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/loop_scalars.h"
#include "hlo_backend/passes/memory_places.h"
#include "hlo_backend/passes/memory_space.h"
#include "hlo_backend/passes/memory_space_assignment.h"
#include "hlo_backend/passes/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

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
    if (!MayLieInVmem(*place.maker) || place.maker->parent() != body_) return 0;
    // Whatever names it is read by kernels, and is the next state once.
    int handed_on = 0;
    for (const Instruction* i : body_->instructions()) {
      if (!(PlaceOf(i) == place) || i->shape().IsTuple()) continue;
      if (i->opcode() == Opcode::kBitcast && i->shape().IsScalar()) return 0;
      for (const Instruction* user : i->users()) {
        if (user == body_->root()) {
          handed_on += user->OperandUses(i);
        } else if (!OnlyNamesMemory(*user) && !ReadsInVmem(*user, *i)) {
          return 0;
        }
      }
    }
    return handed_on == 1 && StartsInVmem(k) ? PaddedBytes(shape) : 0;
  }

  // Is an element of the state that an iteration moves `times` a better use of
  // the room than what the iteration itself makes and reads?
  bool IsWorth(int64_t bytes, int times, int64_t room) const {
    return TrafficSavedInVmem(body_, room - bytes) + times * bytes >=
           TrafficSavedInVmem(body_, room);
  }

  // Bytes of VMEM that element k would take, which the loop only reads; 0: it
  // cannot lie there.
  int64_t ReadOnlyBytes(int k) const {
    const Shape& shape = init_->operand(k)->shape();
    if (!shape.IsArray() || shape.IsScalar() ||
        shape.memory_space() != kMemoryHbm || !IsHandedOn(k) ||
        !Elements(*loop_, k).empty() || !StartsInVmem(k)) {
      return 0;
    }
    const bool read =
        ReadByKernels(*body_->parameter(0), k, nullptr, body_->root()) &&
        ReadByKernels(*condition_->parameter(0), k, nullptr);
    return read ? PaddedBytes(shape) : 0;
  }

  // Brings it there; NameVmem says so in the loop.
  void StartInVmem(int k) {
    SetMemorySpace(init_->operand(k), -1, kMemoryVmem);
    NameVmem(k);
  }

  Instruction* start(int k) const { return init_->operand(k); }
  void set_start(int k, Instruction* value) { init_->ReplaceOperand(k, value); }

  void PlaceInVmem(int k) { Move(k, kMemoryVmem); }

  // Element k comes in VMEM and is only read: its names say so.
  bool NameVmem(int k) {
    const Shape& shape = init_->operand(k)->shape();
    if (!shape.IsArray() || shape.memory_space() != kMemoryVmem) return false;
    if (!IsHandedOn(k)) return false;
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
        leaves = leaves || !ReadsInVmem(*user, *value);
      }
      if (leaves) values.push_back(value);
    }
    return values;
  }

  int state_size() const { return init_->operand_count(); }

 private:
  bool IsHandedOn(int k) const {
    const MemoryPlace place = PlaceOf(body_->root()->operand(k));
    return place.maker == body_->parameter(0) && place.index == k;
  }

  // A kernel makes what goes into the loop, for it alone.
  bool StartsInVmem(int k) const {
    const Instruction* start = init_->operand(k);
    return start->user_count() == 1 && !OnlyNamesMemory(*start) &&
           InPlaceOperand(*start) < 0 && MayLieInVmem(*start);
  }

  // Not by `root`, but `except` may.
  static bool ReadByKernels(const Instruction& state, int k,
                            const Instruction* root,
                            const Instruction* except = nullptr) {
    for (const Instruction* value : Elements(state, k)) {
      if (!ValueReadByKernels(*value, k, root, except)) return false;
    }
    return true;
  }
  static bool ValueReadByKernels(const Instruction& value, int k,
                                 const Instruction* root,
                                 const Instruction* except) {
    if (value.IsRoot()) return false;
    for (const Instruction* user : value.users()) {
      if (user == except) continue;
      if (user->opcode() == Opcode::kBitcast && !user->shape().IsScalar()) {
        if (!ValueReadByKernels(*user, k, root, nullptr)) return false;
        continue;
      }
      if (user == root || !ReadsInVmem(*user, value)) return false;
      // What is updated in place is the next state, whose readers are seen to
      // apart.
      if (UpdatesInPlace(*user, value) &&
          (root == nullptr || PlaceOf(root->operand(k)).maker != user)) {
        return false;
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
  // Value -> its copy in HBM, and back. Never iterated.
  absl::flat_hash_map<Instruction*, Instruction*> after, from;
  for (Instruction* i : order) {
    if (i->opcode() != Opcode::kWhile) continue;
    Loop loop(i);
    if (!loop.IsPlain()) continue;
    changed |= PlaceLoopScalars(i, *context.chip);
    for (int k = 0; k < loop.state_size(); ++k) {
      // What an earlier loop left in VMEM need not go through HBM.
      const auto copied = from.find(loop.start(k));
      if (copied == from.end() || loop.ReadOnlyBytes(k) == 0) continue;
      Instruction* copy = copied->first;
      loop.set_start(k, copied->second);
      after.erase(copied->second);
      from.erase(copied);
      entry->Remove(copy);
    }
    for (int k = 0; k < loop.state_size(); ++k) changed |= loop.NameVmem(k);
    for (int k = 0; k < loop.state_size(); ++k) {
      const int64_t bytes = loop.ReadOnlyBytes(k);
      if (bytes == 0 || bytes > room || !loop.IsWorth(bytes, 1, room)) continue;
      room -= bytes;
      changed = true;
      loop.StartInVmem(k);
    }
    for (int k = 0; k < loop.state_size(); ++k) {
      const int64_t bytes = loop.VmemBytes(k);
      if (bytes == 0 || bytes > room || !loop.IsWorth(bytes, 2, room)) continue;
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
        from[copy] = value;
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
