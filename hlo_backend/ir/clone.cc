// Copies of computations and modules.
#include "base/check.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

Computation* Module::CloneComputation(const Computation& source,
                                      absl::string_view name,
                                      ComputationMap* copied) {
  auto found = copied->find(&source);
  if (found != copied->end()) return found->second;
  const bool same_module = source.module() == this;
  Computation* target = AddComputation(name);
  copied->emplace(&source, target);
  target->execution_thread_ = source.execution_thread_;
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  map.reserve(source.instruction_count());
  std::vector<Instruction*> operands;
  std::vector<Computation*> called;
  for (const Instruction* i : source.PostOrder()) {
    operands.clear();
    for (Instruction* operand : i->operands()) {
      operands.push_back(map.at(operand));
    }
    called.clear();
    for (Computation* c : i->called()) {
      called.push_back(same_module ? c
                                   : CloneComputation(*c, c->name(), copied));
    }
    Instruction* copy = target->Add(i->opcode_, i->shape_, operands,
                                    i->attributes_, called, i->name_);
    copy->metadata_ = i->metadata_;
    if (i->extras_) {
      copy->extras_ = std::make_unique<InstructionExtras>(*i->extras_);
    }
    copy->set_source_position(i->line_, i->column_);
    for (Instruction* p : i->control_predecessors_) {
      copy->AddControlPredecessor(map.at(p));
    }
    map.emplace(i, copy);
  }
  if (source.root_ != nullptr) target->SetRoot(map.at(source.root_));
  return target;
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>(name_);
  copy->file_name_ = file_name_;
  copy->config_ = config_;
  copy->stack_frames_ = stack_frames_;
  copy->names_ = names_;
  copy->next_instruction_id_ = next_instruction_id_;
  copy->next_computation_id_ = next_computation_id_;
  ComputationMap computations;
  for (const auto& c : computations_) {
    if (!c) continue;
    copy->computations_.emplace_back(
        new Computation(copy.get(), c->name_, c->id_));
    Computation* target = copy->computations_.back().get();
    target->position_ = static_cast<int>(copy->computations_.size()) - 1;
    target->execution_thread_ = c->execution_thread_;
    computations.emplace(c.get(), target);
  }
  absl::flat_hash_map<const Instruction*, Instruction*> map;
  for (const auto& c : computations_) {
    if (!c) continue;
    Computation* target = computations.at(c.get());
    map.clear();
    map.reserve(c->live_);
    // First the instructions in their order, then the edges between them.
    for (const Instruction* i : c->instructions()) {
      auto made =
          std::unique_ptr<Instruction>(new Instruction(i->opcode_, i->shape_));
      made->attributes_ = i->attributes_;
      made->metadata_ = i->metadata_;
      if (i->extras_) {
        made->extras_ = std::make_unique<InstructionExtras>(*i->extras_);
      }
      made->name_ = i->name_;
      made->parent_ = target;
      made->id_ = i->id_;
      made->position_ = static_cast<int>(target->instructions_.size());
      made->line_ = i->line_;
      made->column_ = i->column_;
      map.emplace(i, made.get());
      target->instructions_.push_back(std::move(made));
    }
    target->live_ = c->live_;
    for (const Instruction* i : c->instructions()) {
      Instruction* copied = map.at(i);
      for (Instruction* operand : i->operands_) {
        copied->AppendOperand(map.at(operand));
      }
      for (Instruction* p : i->control_predecessors_) {
        copied->AddControlPredecessor(map.at(p));
      }
      std::vector<Computation*> called;
      for (Computation* callee : i->called_) {
        called.push_back(computations.at(callee));
      }
      if (!called.empty()) copied->SetCalled(called);
    }
    for (Instruction* p : c->parameters_) {
      target->parameters_.push_back(p ? map.at(p) : nullptr);
    }
    if (c->root_ != nullptr) target->SetRoot(map.at(c->root_));
  }
  if (entry_ != nullptr) copy->entry_ = computations.at(entry_);
  return copy;
}

}  // namespace ptxla::hlo
