#include "hlo_backend/passes/loops/loop_residency.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/loops/loop_scalars.h"
#include "hlo_backend/passes/loops/loop_state.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"

namespace ptxla::hlo {

namespace {

class LoopResidency {
 public:
  explicit LoopResidency(const chips::ChipSpec& chip) : chip_(chip) {}

  // Places the states of the loops of `c` in `room` bytes, those of the loops
  // inside of them first: they move more often. Returns what is taken.
  int64_t Place(Computation* c, int64_t room) {
    std::vector<Instruction*> order;
    for (Instruction* i : c->instructions()) order.push_back(i);
    int64_t taken = 0, most_inside = 0;
    // Value -> its copy in HBM, and back. Never iterated.
    absl::flat_hash_map<Instruction*, Instruction*> after, from;
    for (Instruction* i : order) {
      if (i->opcode() != Opcode::kWhile) continue;
      const int64_t inside = Place(i->while_body(), room - taken);
      most_inside = std::max(most_inside, inside);
      LoopState loop(i);
      if (!loop.IsPlain()) continue;
      changed_ |= PlaceLoopScalars(i, chip_);
      for (int k = 0; k < loop.state_size(); ++k) {
        // What an earlier loop left in VMEM need not go through HBM.
        const auto copied = from.find(loop.start(k));
        if (copied == from.end() || loop.ReadOnlyBytes(k) == 0) continue;
        Instruction* copy = copied->first;
        loop.set_start(k, copied->second);
        if (copy->user_count() > 0) continue;  // others want it in HBM
        after.erase(copied->second);
        from.erase(copied);
        c->Remove(copy);
      }
      taken += PlaceState(&loop, room - taken - inside, &after, &from);
    }
    PutBehind(c, order, after);
    return taken + most_inside;
  }

  bool changed() const { return changed_; }

 private:
  int64_t PlaceState(LoopState* loop, int64_t room,
                     absl::flat_hash_map<Instruction*, Instruction*>* after,
                     absl::flat_hash_map<Instruction*, Instruction*>* from) {
    const int64_t all = room;
    for (int k = 0; k < loop->state_size(); ++k) changed_ |= loop->NameVmem(k);
    for (int k = 0; k < loop->state_size(); ++k) {
      const int64_t bytes = loop->ReadOnlyBytes(k);
      if (bytes == 0 || bytes > room ||
          !loop->IsWorth(chip_, k, bytes, 1, room) ||
          !MayKeepResults(*loop->StartMaker(k), chip_)) {
        continue;
      }
      room -= bytes;
      changed_ = true;
      loop->StartInVmem(k);
    }
    for (int k = 0; k < loop->state_size(); ++k) {
      const int64_t bytes = loop->VmemBytes(k);
      if (bytes == 0 || bytes > room ||
          !loop->IsWorth(chip_, k, bytes, 2, room) ||
          !MayKeepState(loop->NextMaker(k)) ||
          IsSharedProduct(*loop->StartMaker(k))) {
        continue;
      }
      // Each plane is written once, where they are to be in the end.
      if (loop->IsHandedOut(k) && loop->OnlyFillsPlanes(k)) continue;
      room -= bytes;
      changed_ = true;
      const std::vector<Instruction*> leaving = loop->Leaving(k);
      loop->PlaceInVmem(k);
      for (Instruction* value : leaving) {
        Instruction* copy = CopyToHbm(value);
        (*after)[value] = copy;
        (*from)[copy] = value;
      }
    }
    return all - room;
  }

  // Of two cores that share no memory each has its part of what a fusion of
  // vector work makes alone (libtpu 0.0.42.1, v5p: recursions, gradients of
  // layers); results of products, and state that is made with a stack, meet in
  // HBM.
  bool MayKeepState(const Instruction& maker) const {
    return !chip_.CoresShareOnlyHbm() ||
           (MayKeepResults(maker, chip_) && maker.shape().IsArray());
  }

  bool IsSharedProduct(const Instruction& start) const {
    return chip_.CoresShareOnlyHbm() && HasProduct(start);
  }

  static Instruction* CopyToHbm(Instruction* value) {
    Computation* c = value->parent();
    Shape shape = value->shape();
    SetSpace(&shape, kMemoryHbm);
    const bool is_root = c->root() == value;
    const std::vector<Instruction*> users(value->users().begin(),
                                          value->users().end());
    Instruction* copy = c->Add(Opcode::kCopy, shape, {value});
    for (Instruction* user : users) value->ReplaceUseIn(user, copy);
    if (is_root) c->SetRoot(copy);
    // Bodies of fusions name the space of what they read.
    SetMemorySpace(copy, -1, kMemoryHbm);
    return copy;
  }

  static void PutBehind(
      Computation* c, const std::vector<Instruction*>& order,
      const absl::flat_hash_map<Instruction*, Instruction*>& after) {
    if (after.empty()) return;
    std::vector<Instruction*> result;
    for (Instruction* i : order) {
      result.push_back(i);
      if (const auto it = after.find(i); it != after.end()) {
        result.push_back(it->second);
      }
    }
    c->Reorder(result);
  }

  const chips::ChipSpec& chip_;
  bool changed_ = false;
};

}  // namespace

absl::StatusOr<bool> LoopResidencyPass::Run(Module* module,
                                            const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  int64_t room = RoomForResidents(*context.chip);
  for (const Instruction* p : module->entry()->parameters()) {
    if (p->shape().IsArray() && p->shape().memory_space() == kMemoryVmem) {
      room -= PaddedBytes(p->shape());
    }
  }
  LoopResidency residency(*context.chip);
  residency.Place(module->entry(), room);
  return residency.changed();
}

}  // namespace ptxla::hlo
