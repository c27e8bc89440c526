#include "hlo_backend/passes/memory/copy_insertion.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/output_homes.h"
#include "hlo_backend/passes/memory/output_places.h"
#include "hlo_backend/passes/memory/scheduled_copies.h"

namespace ptxla::hlo {
namespace {

// Another branch may write the result where it gets its operand.
bool IsBranch(const Computation& c) {
  for (const Instruction* caller : c.callers()) {
    if (caller->opcode() == Opcode::kConditional) return true;
  }
  return false;
}

class Inserter {
 public:
  explicit Inserter(Computation* c)
      : c_(c),
        kept_(*c),
        copies_(c),
        outputs_(*c, HomesOfOutputs(*c), kept_, copies_) {}

  bool Run() {
    for (Instruction* i : copies_.order()) {
      if (i->opcode() == Opcode::kWhile) StartOfLoop(i);
      if (InPlaceOperand(*i) == 0) Overwritten(i);
    }
    const Instruction* old_root = c_->root();
    Outputs();
    if (copies_.empty() && c_->root() == old_root) return false;
    copies_.Reorder();
    return true;
  }

 private:
  // The value's memory may be taken at `user`: nobody reads it later, and
  // nobody else owns it.
  bool MayOverwrite(const Instruction* value, const Instruction* user,
                    const Instruction* taker) const {
    const MemoryPlace place = kept_.PlaceOf(value);
    if (place.maker->opcode() == Opcode::kParameter || IsPreset(*place.maker) ||
        outputs_.IsOutput(place)) {
      return false;
    }
    return kept_.LastRead(place, copies_.positions(), taker) <=
           copies_.positions().at(user);
  }

  // The tuple that a loop starts from, of whose elements it decides alone: what
  // others take too is put together again. Null: the result of an instruction
  // that only the loop reads.
  Instruction* OwnStart(Instruction* loop) {
    Instruction* init = loop->operand(0);
    const bool is_tuple = init->opcode() == Opcode::kTuple;
    if (init->user_count() == 1 && !init->IsRoot() &&
        init->opcode() != Opcode::kParameter) {
      return is_tuple ? init : nullptr;
    }
    const int count = init->shape().element_count_of_tuple();
    std::vector<Instruction*> elements(count);
    for (int k = 0; k < count; ++k) {
      elements[k] = is_tuple ? init->operand(k)
                             : copies_.AddBefore(
                                   loop, c_->Add(Opcode::kGetTupleElement,
                                                 init->shape().element(k),
                                                 {init}, TupleIndexAttrs{k}));
    }
    Instruction* own =
        c_->Add(Opcode::kTuple, init->shape(), std::move(elements));
    copies_.SetPosition(own, loop);
    loop->ReplaceOperand(0, own);
    return own;
  }

  // What a loop starts from becomes its state.
  void StartOfLoop(Instruction* loop) {
    Instruction* const start = loop->operand(0);
    Instruction* init = OwnStart(loop);
    if (init == nullptr) return;
    // Copies go before the tuple, which goes before its loop.
    Instruction* const user = init == start ? init : loop;
    // Elements whose memory no other element may have: what the loop only
    // reads stays where it is.
    absl::flat_hash_set<MemoryPlace> taken;
    for (int k = 0; k < init->operand_count(); ++k) {
      if (init->operand(k)->shape().IsArray() && KeepsElement(*loop, k)) {
        taken.insert(kept_.PlaceOf(init->operand(k)));
      }
    }
    for (int k = 0; k < init->operand_count(); ++k) {
      Instruction* value = init->operand(k);
      if (!value->shape().IsArray() || KeepsElement(*loop, k)) {
        continue;
      }
      if (MayOverwrite(value, loop, init) &&
          taken.insert(kept_.PlaceOf(value)).second) {
        continue;
      }
      init->ReplaceOperand(k, copies_.CopyBefore(user, value));
    }
    if (user == loop) copies_.AddBefore(loop, init);
  }

  // A dynamic-update-slice or scatter writes into its first operand.
  void Overwritten(Instruction* update) {
    Instruction* value = update->operand(0);
    const MemoryPlace place = kept_.PlaceOf(value);
    // Rows that are added to others of the same array are read as they were.
    const bool reads_itself = std::any_of(
        update->operands().begin() + 1, update->operands().end(),
        [&](const Instruction* o) { return kept_.PlaceOf(o) == place; });
    if (!reads_itself && outputs_.IsHomeOf(place, update) &&
        !outputs_.IsOutput(place) &&
        kept_.LastRead(place, copies_.positions(), update) <=
            copies_.positions().at(update)) {
      return;
    }
    if (!reads_itself && MayOverwrite(value, update, update)) return;
    update->ReplaceOperand(0, copies_.CopyBefore(update, value));
  }

  void Outputs() {
    Instruction* root = c_->root();
    if (root->opcode() != Opcode::kTuple) {
      if ((c_->IsEntry() || IsBranch(*c_)) && root->shape().IsArray() &&
          outputs_.NeedsCopy(root, outputs_.Home(0))) {
        Instruction* copy = c_->Add(Opcode::kCopy, root->shape(), {root});
        copy->set_metadata(root->shared_metadata());
        c_->SetRoot(copy);
      }
      return;
    }
    // What lies in the home of another output is saved before any is written.
    std::vector<int> saved;
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value = root->operand(k);
      if (value->shape().IsArray() &&
          outputs_.IsOverwritten(kept_.PlaceOf(value), k)) {
        root->ReplaceOperand(k, copies_.CopyBefore(root, value));
        saved.push_back(k);
      }
    }
    for (int k : saved) {
      if (outputs_.Home(k).maker == nullptr) continue;
      root->ReplaceOperand(k, copies_.CopyBefore(root, root->operand(k)));
    }
    absl::flat_hash_set<MemoryPlace> taken;
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value = root->operand(k);
      if (!value->shape().IsArray()) continue;
      if (!outputs_.NeedsCopy(value, outputs_.Home(k)) &&
          taken.insert(kept_.PlaceOf(value)).second) {
        continue;
      }
      root->ReplaceOperand(k, copies_.CopyBefore(root, value));
    }
  }

  Computation* c_;
  const KeptElements kept_;
  ScheduledCopies copies_;
  const OutputPlaces outputs_;
};

}  // namespace

absl::StatusOr<bool> CopyInsertionPass::Run(Module* module,
                                            const PassContext&) {
  if (!module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= Inserter(c).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
