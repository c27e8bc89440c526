#include "hlo_backend/compiler/kernel_windows.h"

#include <algorithm>
#include <variant>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

using BytesByName = absl::flat_hash_map<std::string, int64_t>;

void AddCalls(const isa::Program& program, const isa::Schedule& schedule,
              BytesByName* bytes) {
  for (const isa::Op& op : schedule) {
    if (const auto* call = std::get_if<isa::Call>(&op.action)) {
      int64_t& most = (*bytes)[op.info.name];
      most = std::max(most, program.kernels[call->kernel].vmem_bytes);
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      AddCalls(program, loop->condition, bytes);
      AddCalls(program, loop->body, bytes);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) {
        AddCalls(program, s, bytes);
      }
    }
  }
}

}  // namespace

int64_t KernelWindows::Within(const Instruction& i) const {
  int64_t most = Of(i);
  for (const Computation* c : i.called()) {
    if (!IsControlComputation(*c)) continue;
    for (const Instruction* inner : c->instructions()) {
      most = std::max(most, Within(*inner));
    }
  }
  return most;
}

bool KernelWindows::Raise(const KernelWindows& other) {
  bool raised = false;
  for (const auto& [name, bytes] : other.bytes_) {
    const auto [it, fresh] = bytes_.try_emplace(name, bytes);
    raised |= fresh || bytes > it->second;
    it->second = std::max(it->second, bytes);
  }
  return raised;
}

KernelWindows WindowsOf(const Module& module, const isa::Program& program,
                        const chips::ChipSpec& chip) {
  BytesByName called;
  AddCalls(program, program.schedule, &called);
  KernelWindows windows(chip);
  for (const Computation* c : ControlComputations(module)) {
    for (const Instruction* i : c->instructions()) {
      const auto it = called.find(i->name());
      windows.Set(i->name(), it == called.end() ? 0 : it->second);
    }
  }
  return windows;
}

}  // namespace ptxla::hlo
