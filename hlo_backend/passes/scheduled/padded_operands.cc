#include "hlo_backend/passes/scheduled/padded_operands.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/prefetch_source.h"

namespace ptxla::hlo {
namespace {

// Of the bytes; with less padding the copy is as good as what is made anew.
constexpr int64_t kPadding = 4;

// What transfers between memories have brought here.
Instruction* BehindTransfers(Instruction* value) {
  while (true) {
    Instruction* source = PrefetchSource(*value);
    if (source == nullptr && value->opcode() == Opcode::kCopyDone &&
        value->operand(0)->opcode() == Opcode::kCopyStart) {
      source = value->operand(0)->operand(0);
    }
    if (source == nullptr) return value;
    value = source;
  }
}

// What `value` is a mostly padded copy of; null: none, or it is overwritten.
Instruction* Unpadded(Instruction* value, int generation) {
  Instruction* copy = BehindTransfers(value);
  if (copy->opcode() != Opcode::kCopy || !copy->shape().IsArray()) {
    return nullptr;
  }
  Instruction* source = copy->operand(0);
  if (source->shape().type() != copy->shape().type() ||
      !source->shape().has_layout() || IsOverwritten(*source) ||
      TpuBytes(copy->shape(), generation) <
          kPadding * TpuBytes(source->shape(), generation)) {
    return nullptr;
  }
  Instruction* there = PrefetchSource(*source);
  return there != nullptr ? there : source;
}

}  // namespace

bool ReadsPadded(const Instruction& fusion, int generation) {
  return std::any_of(fusion.operands().begin(), fusion.operands().end(),
                     [&](Instruction* value) {
                       return Unpadded(value, generation) != nullptr;
                     });
}

void ReadUnpadded(Instruction* fusion, int generation,
                  absl::flat_hash_set<int>* unread) {
  Computation* body = fusion->fused();
  for (int k = 0; k < fusion->operand_count(); ++k) {
    Instruction* value = fusion->operand(k);
    Instruction* source = Unpadded(value, generation);
    if (source == nullptr) continue;
    Instruction* parameter = body->parameter(k);
    const std::vector<Instruction*> users(parameter->users().begin(),
                                          parameter->users().end());
    Shape shape = parameter->shape();
    shape.mutable_layout()->memory_space = kMemoryHbm;
    *parameter->mutable_shape() = source->shape();
    Instruction* turned = body->Add(Opcode::kCopy, shape, {parameter});
    for (Instruction* user : users) parameter->ReplaceUseIn(user, turned);
    fusion->ReplaceOperand(k, source);
    unread->insert(value->id());
  }
}

void RemoveUnread(Computation* c, absl::flat_hash_set<int> ids) {
  std::vector<Instruction*> order;
  for (Instruction* i : c->instructions()) order.push_back(i);
  for (auto it = order.rbegin(); it != order.rend() && !ids.empty(); ++it) {
    Instruction* i = *it;
    if (!ids.contains(i->id()) || i->user_count() > 0 || i->IsRoot() ||
        i->opcode() == Opcode::kParameter) {
      continue;
    }
    for (const Instruction* o : i->operands()) ids.insert(o->id());
    i->DropControlDependencies();
    c->Remove(i);
  }
}

}  // namespace ptxla::hlo
