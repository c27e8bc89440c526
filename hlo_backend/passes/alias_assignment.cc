#include "hlo_backend/passes/alias_assignment.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"

namespace ptxla::hlo {
namespace {

// The instruction that makes an output, behind what only names memory.
const Instruction* MakerOf(const Instruction* value) {
  while (value->opcode() == Opcode::kGetTupleElement ||
         value->opcode() == Opcode::kBitcast) {
    value = value->operand(0);
  }
  return value;
}

std::string KeyOf(const Shape& shape) { return shape.ToStringWithLayout(); }

}  // namespace

absl::StatusOr<bool> AliasAssignmentPass::Run(Module* module,
                                              const PassContext&) {
  ModuleConfig* config = module->mutable_config();
  Computation* entry = module->entry();
  const Instruction* root = entry->root();
  if (config->buffer_donors.empty() || root->opcode() != Opcode::kTuple) {
    return false;
  }
  absl::flat_hash_set<int64_t> used_outputs, used_parameters;
  for (const InputOutputAlias& alias : config->input_output_alias) {
    if (!alias.output.empty()) used_outputs.insert(alias.output[0]);
    used_parameters.insert(alias.parameter);
  }
  // Free outputs by shape, in order; a parameter that is handed through keeps
  // its own memory.
  std::map<std::string, std::vector<int>> free_outputs;
  for (int k = 0; k < root->operand_count(); ++k) {
    const Instruction* maker = MakerOf(root->operand(k));
    if (used_outputs.contains(k) || !root->operand(k)->shape().IsArray() ||
        maker->opcode() == Opcode::kParameter) {
      continue;
    }
    free_outputs[KeyOf(root->operand(k)->shape())].push_back(k);
  }
  std::vector<BufferDonor> left;
  bool changed = false;
  auto take = [&](const BufferDonor& donor, bool only_readers) {
    const Instruction* p = entry->parameter(static_cast<int>(donor.parameter));
    auto it = free_outputs.find(KeyOf(p->shape()));
    if (it == free_outputs.end()) return false;
    for (auto k = it->second.begin(); k != it->second.end(); ++k) {
      if (only_readers && !p->IsUsedBy(MakerOf(root->operand(*k)))) continue;
      InputOutputAlias alias;
      alias.output = {*k};
      alias.parameter = donor.parameter;
      config->input_output_alias.push_back(alias);
      it->second.erase(k);
      return true;
    }
    return false;
  };
  for (bool only_readers : {true, false}) {
    left.clear();
    for (const BufferDonor& donor : config->buffer_donors) {
      const bool taken = donor.parameter_index.empty() &&
                         !used_parameters.contains(donor.parameter) &&
                         take(donor, only_readers);
      changed |= taken;
      if (!taken) left.push_back(donor);
    }
    config->buffer_donors = left;
  }
  return changed;
}

}  // namespace ptxla::hlo
