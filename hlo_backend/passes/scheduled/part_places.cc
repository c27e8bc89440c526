#include "hlo_backend/passes/scheduled/part_places.h"

#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/scheduled/body_compiler.h"

namespace ptxla::hlo {

void GiveShape(Instruction* value, const Shape& shape) {
  if (value->opcode() == Opcode::kParameter) return;
  *value->mutable_shape() = shape;
  if (value->opcode() == Opcode::kTuple) {
    for (int k = 0; k < value->operand_count(); ++k) {
      GiveShape(value->operand(k), shape.element(k));
    }
  } else if (value->opcode() == Opcode::kBitcast &&
             value->operand(0)->shape().has_layout()) {
    Shape below = value->operand(0)->shape();
    below.mutable_layout()->memory_space = shape.memory_space();
    GiveShape(value->operand(0), below);
  }
}

// A body that was made when its arrays had no memory space yet does not say
// where they are.
void GiveOperandShapes(const Computation& c, int begin) {
  for (Instruction* i : c.instructions()) {
    if (i->id() < begin) continue;
    if (i->opcode() == Opcode::kBitcast &&
        i->operand(0)->shape().has_layout()) {
      i->mutable_shape()->mutable_layout()->memory_space =
          i->operand(0)->shape().memory_space();
    }
    if (i->opcode() != Opcode::kFusion) continue;
    for (int k = 0; k < i->operand_count(); ++k) {
      *i->fused()->parameter(k)->mutable_shape() = i->operand(k)->shape();
    }
    GiveShape(i->fused()->root(), i->shape());
  }
}

void CopyScalars(const Instruction& whole, Computation* body) {
  for (int k = 0; k < whole.operand_count(); ++k) {
    const Shape& shape = whole.operand(k)->shape();
    if (!shape.IsArray() || shape.memory_space() != kMemorySmem) continue;
    Instruction* scalar = body->parameter(k);
    Instruction* copy = nullptr;
    const std::vector<Instruction*> users(scalar->users().begin(),
                                          scalar->users().end());
    for (Instruction* user : users) {
      if (!OnlyNamesMemory(*user)) continue;
      if (copy == nullptr) {
        Shape there = shape;
        SetSpace(&there, kMemoryHbm);
        copy = body->Add(Opcode::kCopy, there, {scalar});
      }
      scalar->ReplaceUseIn(user, copy);
    }
    if (copy != nullptr) body->Reorder(body->PostOrder());
  }
}

std::vector<const Instruction*> MakersOf(const Uses& uses) {
  std::vector<const Instruction*> makers;
  for (const auto& [user, k] : uses) {
    const Instruction* value = PlaceOf(user->operand(k)).maker;
    if (value->opcode() != Opcode::kTuple) {
      makers.push_back(value);
      continue;
    }
    for (const Instruction* o : value->operands()) {
      makers.push_back(PlaceOf(o).maker);
    }
  }
  return makers;
}

Uses UsesOf(const Instruction& i) {
  Uses uses;
  for (Instruction* user : i.users()) {
    for (int k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) == &i) uses.emplace_back(user, k);
    }
  }
  return uses;
}

void PutInPlace(Instruction* old, Computation* body) {
  Computation* c = old->parent();
  const std::vector<Instruction*> operands(old->operands().begin(),
                                           old->operands().end());
  Instruction* call = c->Add(Opcode::kCall, old->shape(), operands, {}, {body});
  call->set_metadata(old->shared_metadata());
  old->ReplaceAllUsesWith(call);
  old->DropControlDependencies();
  c->Remove(old);
  InlineCall(call);
}

}  // namespace ptxla::hlo
