#include "hlo_backend/passes/copy_insertion.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace ptxla::hlo {
namespace {

bool OnlyNames(const Instruction& i) {
  return i.opcode() == Opcode::kGetTupleElement ||
         i.opcode() == Opcode::kBitcast;
}

const Instruction* MakerOf(const Instruction* value) {
  while (OnlyNames(*value)) value = value->operand(0);
  return value;
}

// A leaf of an instruction's result.
using Place = std::pair<const Instruction*, int64_t>;

Place PlaceOf(const Instruction* value) {
  int64_t index = -1;
  while (OnlyNames(*value)) {
    if (value->opcode() == Opcode::kGetTupleElement) {
      index = value->tuple_index();
    }
    value = value->operand(0);
  }
  return {value, index};
}

// Last position that reads the value, through what only names it.
int LastRead(const Instruction* value,
             const absl::flat_hash_map<const Instruction*, int>& position) {
  int last = -1;
  for (const Instruction* user : value->users()) {
    if (OnlyNames(*user)) {
      last = std::max(last, LastRead(user, position));
    } else if (!user->IsRoot()) {
      last = std::max(last, position.at(user));
    }
  }
  return last;
}

// `maker` reads the parameter element by element where it writes the output.
bool ReadsInStep(const Instruction& parameter, const Instruction& maker) {
  if (maker.IsElementwise()) return true;
  if (maker.opcode() == Opcode::kDynamicUpdateSlice) {
    return maker.operand(0) == &parameter && maker.OperandUses(&parameter) == 1;
  }
  if (maker.opcode() != Opcode::kFusion) return false;
  for (int k = 0; k < maker.operand_count(); ++k) {
    if (maker.operand(k) != &parameter) continue;
    for (const Instruction* user : maker.fused()->parameter(k)->users()) {
      // A product or a broadcast reads elsewhere than it writes.
      if (!user->IsElementwise() && user->opcode() != Opcode::kTuple) {
        return false;
      }
      if (!user->shape().IsTuple() &&
          !user->shape().SameDims(parameter.shape())) {
        return false;
      }
    }
  }
  return true;
}

class Inserter {
 public:
  explicit Inserter(Module* module)
      : module_(module), entry_(module->entry()), root_(entry_->root()) {
    int n = 0;
    for (const Instruction* i : entry_->instructions()) position_[i] = n++;
  }

  bool Run() {
    if (root_->opcode() != Opcode::kTuple) return false;
    std::vector<int64_t> parameter_of(root_->operand_count(), -1);
    for (const InputOutputAlias& alias : module_->config().input_output_alias) {
      if (alias.output.size() == 1 && alias.parameter_index.empty()) {
        parameter_of[alias.output[0]] = alias.parameter;
      }
    }
    bool changed = false;
    absl::flat_hash_set<Place> taken;
    for (int k = 0; k < root_->operand_count(); ++k) {
      Instruction* value = root_->operand(k);
      if (!value->shape().IsArray()) continue;
      if (!NeedsCopy(value, parameter_of[k]) &&
          taken.insert(PlaceOf(value)).second) {
        continue;
      }
      Instruction* copy = entry_->Add(Opcode::kCopy, value->shape(), {value});
      copy->set_metadata(value->shared_metadata());
      root_->ReplaceOperand(k, copy);
      changed = true;
    }
    if (changed) RootLast();
    return changed;
  }

 private:
  bool NeedsCopy(const Instruction* value, int64_t alias) const {
    const Instruction* maker = MakerOf(value);
    if (maker->opcode() == Opcode::kParameter) {
      return alias < 0 || maker->parameter_number() != alias ||
             value->shape() != maker->shape();
    }
    if (maker->IsConstant()) return true;
    if (alias < 0) return false;
    const Instruction* parameter = entry_->parameter(static_cast<int>(alias));
    const int made = position_.at(maker);
    const int read = LastRead(parameter, position_);
    if (read > made) return true;
    return read == made && !ReadsInStep(*parameter, *maker);
  }

  void RootLast() {
    std::vector<Instruction*> order;
    for (Instruction* i : entry_->instructions()) {
      if (i != root_) order.push_back(i);
    }
    order.push_back(root_);
    entry_->Reorder(order);
  }

  Module* module_;
  Computation* entry_;
  Instruction* root_;
  absl::flat_hash_map<const Instruction*, int> position_;
};

}  // namespace

absl::StatusOr<bool> CopyInsertionPass::Run(Module* module,
                                            const PassContext&) {
  if (!module->config().is_scheduled) return false;
  return Inserter(module).Run();
}

}  // namespace ptxla::hlo
