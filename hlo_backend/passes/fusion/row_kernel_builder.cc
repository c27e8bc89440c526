#include "hlo_backend/passes/fusion/row_kernel_builder.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/fusion/read_operands.h"
#include "hlo_backend/passes/fusion/row_leaves.h"

namespace ptxla::hlo {

void RowKernelBuilder::Build(std::vector<Instruction*> members,
                             bool keep_sums) {
  if (keep_sums) KeepSums(&members);
  clones_.clear();
  members_.clear();
  members_.insert(members.begin(), members.end());
  group_ = ReadOperands(members[0]);
  for (Instruction* i : members) {
    for (int k = 0; k < i->operand_count() && i != members[0]; ++k) {
      Instruction* value = Inside(i->operand(k));
      if (value != i->operand(k)) i->ReplaceOperand(k, value);
    }
    group_.push_back(i);
  }
  const auto metadata = members[0]->shared_metadata();
  Instruction* fusion =
      c_->CreateFusion(group_, FusionKind::kOutput, "rows_fusion");
  if (metadata != nullptr) fusion->set_metadata(metadata);
}

Instruction* RowKernelBuilder::Inside(Instruction* value) {
  if (members_.contains(value)) return value;
  const bool is_free = IsFreeOfRows(*value);
  if (value->opcode() != Opcode::kBroadcast && !is_free) return value;
  auto [it, is_new] = clones_.try_emplace(value, nullptr);
  if (!is_new) return it->second;
  if (IsBroadcastOfWidened(*value) && !is_free) {
    Instruction* widened = value->operand(0);
    Instruction* narrow = widened->operand(0);
    Shape shape = value->shape();
    shape.set_type(narrow->shape().type());
    shape = WithTpuLayout(shape, chip_.generation());
    Instruction* broadcast = Grouped(c_->AddLike(*value, shape, {narrow}));
    return clones_[value] =
               Grouped(c_->AddLike(*widened, value->shape(), {broadcast}));
  }
  std::vector<Instruction*> operands;
  for (Instruction* o : value->operands()) operands.push_back(Inside(o));
  return clones_[value] =
             Grouped(c_->AddLike(*value, value->shape(), operands));
}

Instruction* RowKernelBuilder::Grouped(Instruction* clone) {
  group_.push_back(clone);
  return clone;
}

void RowKernelBuilder::KeepSums(std::vector<Instruction*>* members) {
  Instruction* dot = members->front();
  const std::vector<Instruction*> users(dot->users().begin(),
                                        dot->users().end());
  for (const Instruction* u : users) {
    if (u->opcode() != Opcode::kConvert || u->IsRoot() ||
        u->shape().type() != PrimitiveType::kF32) {
      return;
    }
  }
  Instruction* sums = c_->AddLike(*dot, users[0]->shape(), dot->operands());
  Instruction* stored = nullptr;
  for (Instruction* u : users) {
    members->erase(std::find(members->begin(), members->end(), u));
    const std::vector<Instruction*> readers(u->users().begin(),
                                            u->users().end());
    for (Instruction* reader : readers) {
      if (absl::c_linear_search(*members, reader)) continue;
      if (stored == nullptr) {
        stored = c_->Add(Opcode::kConvert, dot->shape(), {sums});
        members->push_back(stored);
      }
      Instruction* widened = c_->AddLike(*u, u->shape(), {stored});
      for (int k = 0; k < reader->operand_count(); ++k) {
        if (reader->operand(k) == u) reader->ReplaceOperand(k, widened);
      }
    }
    c_->Replace(u, sums);
  }
  members->front() = sums;
  c_->Remove(dot);
}

}  // namespace ptxla::hlo
