#include "hlo_backend/passes/memory/alias_assignment.h"

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

absl::StatusOr<bool> AliasAssignmentPass::Run(Module* module,
                                              const PassContext& context) {
  ModuleConfig* config = module->mutable_config();
  const Computation& entry = *module->entry();
  const Instruction* root = entry.root();
  if (config->buffer_donors.empty() || root->opcode() != Opcode::kTuple) {
    return false;
  }
  absl::flat_hash_set<int64_t> used_outputs, used_parameters;
  for (const InputOutputAlias& alias : config->input_output_alias) {
    if (!alias.output.empty()) used_outputs.insert(alias.output[0]);
    used_parameters.insert(alias.parameter);
  }
  const int generation = context.chip->generation();
  const auto bytes = [&](const Instruction& i) {
    const bool tiled =
        i.shape().has_layout() && !i.shape().layout().tiles.empty();
    return tiled ? PaddedBytes(i.shape()) : TpuBytes(i.shape(), generation);
  };
  // Free outputs by size, in order; a parameter that is handed through keeps
  // its own memory.
  std::map<int64_t, std::deque<int>> free_outputs;
  for (int k = 0; k < root->operand_count(); ++k) {
    const Instruction& value = *root->operand(k);
    if (!used_outputs.contains(k) && value.shape().IsArray() &&
        value.opcode() != Opcode::kParameter) {
      free_outputs[bytes(value)].push_back(k);
    }
  }
  std::vector<BufferDonor> left;
  for (const BufferDonor& donor : config->buffer_donors) {
    const Instruction& p = *entry.parameter(static_cast<int>(donor.parameter));
    const bool whole = donor.parameter_index.empty() && p.shape().IsArray() &&
                       used_parameters.insert(donor.parameter).second;
    const auto outputs =
        whole ? free_outputs.find(bytes(p)) : free_outputs.end();
    if (outputs == free_outputs.end() || outputs->second.empty()) {
      left.push_back(donor);
      continue;
    }
    InputOutputAlias alias;
    alias.output = {outputs->second.front()};
    alias.parameter = donor.parameter;
    outputs->second.pop_front();
    config->input_output_alias.push_back(std::move(alias));
  }
  const bool changed = left.size() != config->buffer_donors.size();
  config->buffer_donors = std::move(left);
  return changed;
}

}  // namespace ptxla::hlo
