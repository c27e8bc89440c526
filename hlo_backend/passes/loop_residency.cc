#include "hlo_backend/passes/loop_residency.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/loop_scalars.h"
#include "hlo_backend/passes/loop_state.h"
#include "hlo_backend/passes/memory_space.h"
#include "hlo_backend/passes/memory_space_assignment.h"

namespace ptxla::hlo {

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
    LoopState loop(i);
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
