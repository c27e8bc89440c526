#include "hlo_backend/passes/loops/loop_state.h"

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// The kernel behind what goes into a loop, seen through the name of one of
// several results; no maker: another name.
KernelResult StartOf(Instruction* start) {
  if (start->opcode() == Opcode::kGetTupleElement) {
    Instruction* maker = start->operand(0);
    if (maker->opcode() == Opcode::kFusion && IsOnlyTakenApart(*maker)) {
      return {maker, start->tuple_index()};
    }
  }
  if (OnlyNamesMemory(*start)) return {};
  return {start, -1};
}

void SetStartSpace(Instruction* start, int space) {
  const KernelResult result = StartOf(start);
  SetMemorySpace(result.maker, result.index, space);
}

}  // namespace

bool LoopState::IsPlain() const {
  return init_->opcode() == Opcode::kTuple && init_->user_count() == 1 &&
         body_->root()->opcode() == Opcode::kTuple &&
         IsOnlyTakenApart(*loop_) && IsOnlyTakenApart(*body_->parameter(0)) &&
         IsOnlyTakenApart(*condition_->parameter(0));
}

int64_t LoopState::VmemBytes(int k) const {
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

bool LoopState::IsWorth(const chips::ChipSpec& chip, int k, int64_t bytes,
                        int times, int64_t room) const {
  const int64_t moved = PlaneBytes(k).value_or(times * bytes);
  return TrafficSavedInVmem(body_, chip, room - bytes) + moved >=
         TrafficSavedInVmem(body_, chip, room);
}

std::optional<int64_t> LoopState::PlaneBytes(int k) const {
  int64_t bytes = 0;
  for (const Instruction* value : ElementsOf(*body_->parameter(0), k)) {
    for (const Instruction* user : value->users()) {
      if (user == body_->root()) continue;
      if (user->operand(0) != value || user->OperandUses(value) != 1) return {};
      if (user->opcode() == Opcode::kDynamicSlice) {
        bytes += PaddedBytes(user->shape());
      } else if (user->opcode() == Opcode::kDynamicUpdateSlice) {
        bytes += PaddedBytes(user->operand(1)->shape());
      } else {
        return {};
      }
    }
  }
  return bytes;
}

const Instruction* LoopState::StartMaker(int k) const {
  return StartOf(init_->operand(k)).maker;
}

const Instruction& LoopState::NextMaker(int k) const {
  return *PlaceOf(body_->root()->operand(k)).maker;
}

bool LoopState::OnlyFillsPlanes(int k) const {
  const Instruction* update = &NextMaker(k);
  if (update->opcode() != Opcode::kDynamicUpdateSlice ||
      !PlanesOf(*update).has_value()) {
    return false;
  }
  const std::vector<Instruction*> names = ElementsOf(*body_->parameter(0), k);
  return names.size() == 1 && names[0]->user_count() == 1 &&
         update->operand(0) == names[0];
}

int64_t LoopState::ReadOnlyBytes(int k) const {
  const Shape& shape = init_->operand(k)->shape();
  if (!shape.IsArray() || shape.IsScalar() ||
      shape.memory_space() != kMemoryHbm || !IsHandedOn(k) ||
      !ElementsOf(*loop_, k).empty() || !StartsInVmem(k)) {
    return 0;
  }
  const bool read =
      ReadByKernels(*body_->parameter(0), k, nullptr, body_->root()) &&
      ReadByKernels(*condition_->parameter(0), k, nullptr);
  return read ? PaddedBytes(shape) : 0;
}

void LoopState::StartInVmem(int k) {
  SetStartSpace(init_->operand(k), kMemoryVmem);
  NameVmem(k);
}

bool LoopState::NameVmem(int k) {
  const Shape& shape = init_->operand(k)->shape();
  if (!shape.IsArray() || shape.memory_space() != kMemoryVmem) return false;
  if (!IsHandedOn(k)) return false;
  MoveNames(k, kMemoryVmem);
  SetSpace(body_->root()->mutable_shape()->mutable_element(k), kMemoryVmem);
  return true;
}

std::vector<Instruction*> LoopState::Leaving(int k) const {
  std::vector<Instruction*> values;
  for (Instruction* value : ElementsOf(*loop_, k)) {
    bool leaves = value->IsRoot();
    for (const Instruction* user : value->users()) {
      leaves = leaves || !ReadsInVmem(*user, *value);
    }
    if (leaves) values.push_back(value);
  }
  return values;
}

bool LoopState::IsHandedOut(int k) const {
  for (const Instruction* value : ElementsOf(*loop_, k)) {
    if (value->IsRoot()) return true;
    for (const Instruction* user : value->users()) {
      const bool goes_on = user->opcode() == Opcode::kTuple &&
                           user->user_count() == 1 &&
                           user->users()[0]->opcode() == Opcode::kWhile;
      if (!goes_on && !ReadsInVmem(*user, *value)) return true;
    }
  }
  return false;
}

bool LoopState::IsHandedOn(int k) const { return KeepsElement(*loop_, k); }

bool LoopState::StartsInVmem(int k) const {
  Instruction* start = init_->operand(k);
  const KernelResult result = StartOf(start);
  if (result.maker == nullptr || init_->OperandUses(start) != 1) return false;
  for (const Instruction* user : start->users()) {
    if (user != init_ && !ReadsInVmem(*user, *start)) return false;
  }
  if (result.index >= 0 && ValuesOf(result.maker, result.index).size() != 1) {
    return false;
  }
  return InPlaceOperand(*result.maker) < 0 && MayLieInVmem(*result.maker);
}

bool LoopState::ReadByKernels(const Instruction& state, int k,
                              const Instruction* root,
                              const Instruction* except) {
  for (const Instruction* value : ElementsOf(state, k)) {
    if (!ValueReadByKernels(*value, k, root, except)) return false;
  }
  return true;
}

bool LoopState::ValueReadByKernels(const Instruction& value, int k,
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

void LoopState::MoveNames(int k, int space) {
  const auto element = [&](Instruction* tuple) {
    SetSpace(tuple->mutable_shape()->mutable_element(k), space);
    for (Instruction* value : ElementsOf(*tuple, k)) {
      SetMemorySpace(value, -1, space);
    }
  };
  SetSpace(init_->mutable_shape()->mutable_element(k), space);
  element(loop_);
  element(body_->parameter(0));
  element(condition_->parameter(0));
}

void LoopState::Move(int k, int space) {
  SetStartSpace(init_->operand(k), space);
  MoveNames(k, space);
  Instruction* next = body_->root()->operand(k);
  const MemoryPlace place = PlaceOf(next);
  SetMemorySpace(const_cast<Instruction*>(place.maker), place.index, space);
  SetSpace(body_->root()->mutable_shape()->mutable_element(k), space);
}

}  // namespace ptxla::hlo
