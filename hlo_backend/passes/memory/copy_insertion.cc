#include "hlo_backend/passes/memory/copy_insertion.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/output_homes.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {
namespace {

// Another branch may write the result where it gets its operand.
bool IsBranch(const Computation& c) {
  for (const Instruction* caller : c.callers()) {
    if (caller->opcode() == Opcode::kConditional) return true;
  }
  return false;
}

constexpr Plane kPlanes[] = {Plane::kLow, Plane::kHigh};

class Inserter {
 public:
  Inserter(Computation* c, OutputHomes homes)
      : c_(c),
        homes_(std::move(homes)),
        kept_(*c),
        positions_(PositionsOf(*c)) {}

  bool Run() {
    std::vector<Instruction*> order;
    for (Instruction* i : c_->instructions()) order.push_back(i);
    for (Instruction* i : order) {
      if (i->opcode() == Opcode::kWhile) StartOfLoop(i);
      if (InPlaceOperand(*i) == 0) Overwritten(i);
    }
    const Instruction* old_root = c_->root();
    Outputs();
    if (before_.empty() && c_->root() == old_root) return false;
    std::vector<Instruction*> result;
    Instruction* root = c_->root();
    for (Instruction* i : order) {
      if (i == root) continue;
      Emit(i, &result);
    }
    Emit(root, &result);
    c_->Reorder(result);
    return true;
  }

 private:
  void Emit(Instruction* i, std::vector<Instruction*>* result) {
    auto it = before_.find(i);
    if (it != before_.end()) {
      for (Instruction* copy : it->second) result->push_back(copy);
    }
    result->push_back(i);
  }

  Instruction* AddBefore(Instruction* user, Instruction* made) {
    positions_[made] = positions_.at(user);
    before_[user].push_back(made);
    return made;
  }

  Instruction* CopyBefore(Instruction* user, Instruction* value) {
    Instruction* copy = c_->Add(Opcode::kCopy, value->shape(), {value});
    copy->set_metadata(value->shared_metadata());
    copies_[copy] = user;
    return AddBefore(user, copy);
  }

  // The value's memory may be taken at `user`: nobody reads it later, and
  // nobody else owns it.
  bool MayOverwrite(const Instruction* value, const Instruction* user,
                    const Instruction* taker) const {
    const MemoryPlace place = kept_.PlaceOf(value);
    if (place.maker->opcode() == Opcode::kParameter || IsPreset(*place.maker) ||
        IsOutput(place)) {
      return false;
    }
    return kept_.LastRead(place, positions_, taker) <= positions_.at(user);
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
    std::vector<Instruction*> elements;
    for (int k = 0; k < init->shape().element_count_of_tuple(); ++k) {
      elements.push_back(
          is_tuple ? init->operand(k)
                   : AddBefore(loop, c_->Add(Opcode::kGetTupleElement,
                                             init->shape().element(k), {init},
                                             TupleIndexAttrs{k})));
    }
    Instruction* own =
        c_->Add(Opcode::kTuple, init->shape(), std::move(elements));
    positions_[own] = positions_.at(loop);
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
      init->ReplaceOperand(k, CopyBefore(user, value));
    }
    if (user == loop) AddBefore(loop, init);
  }

  // A dynamic-update-slice or scatter writes into its first operand.
  void Overwritten(Instruction* update) {
    Instruction* value = update->operand(0);
    const MemoryPlace place = kept_.PlaceOf(value);
    // Rows that are added to others of the same array are read as they were.
    const bool reads_itself = std::any_of(
        update->operands().begin() + 1, update->operands().end(),
        [&](const Instruction* o) { return kept_.PlaceOf(o) == place; });
    if (!reads_itself && IsHomeOf(place, update) && !IsOutput(place) &&
        kept_.LastRead(place, positions_, update) <= positions_.at(update)) {
      return;
    }
    if (!reads_itself && MayOverwrite(value, update, update)) return;
    update->ReplaceOperand(0, CopyBefore(update, value));
  }

  // `update`, perhaps updated in place later, is (a half of) an output whose
  // memory is that place.
  bool IsHomeOf(const MemoryPlace& place, const Instruction* update) const {
    const MemoryPlace updated = kept_.PlaceOf(update);
    for (size_t k = 0; k < homes_.size(); ++k) {
      if (!homes_[k].Overlaps(place)) continue;
      for (const MemoryPlace& part : PartsOf(Output(k))) {
        if (part == updated) return true;
        // Later updates would write over what is an output itself.
        if (OriginOf(part, updated) == updated) return !IsOutput(updated);
      }
    }
    return false;
  }

  // The places that a value of the result names: of a 64-bit one its halves.
  std::vector<MemoryPlace> PartsOf(const Instruction* value) const {
    const MemoryPlace place = kept_.PlaceOf(value);
    if (!IsX64Combine(*place.maker)) return {place};
    return {kept_.PlaceOf(place.maker->operand(0)),
            kept_.PlaceOf(place.maker->operand(1))};
  }

  bool IsOutput(const MemoryPlace& place) const {
    const Instruction* root = c_->root();
    const auto names = [&](const Instruction* output) {
      const std::vector<MemoryPlace> parts = PartsOf(output);
      const MemoryPlace named = kept_.PlaceOf(output);
      return named == place ||
             (output->shape().IsTuple() && named.maker == place.maker) ||
             std::any_of(parts.begin(), parts.end(), [&](const MemoryPlace& p) {
               return p.Overlaps(place);
             });
    };
    if (root->opcode() != Opcode::kTuple) return names(root);
    return std::any_of(root->operands().begin(), root->operands().end(), names);
  }

  const Instruction* Output(size_t k) const {
    const Instruction* root = c_->root();
    return root->opcode() == Opcode::kTuple ? root->operand(static_cast<int>(k))
                                            : root;
  }

  // A half that is an array of its own is put into its place at `combine`.
  bool HalfNeedsCopy(const Instruction* combine, int k,
                     MemoryPlace home) const {
    const Instruction* half = combine->operand(k);
    const Opcode maker = kept_.PlaceOf(half).maker->opcode();
    home.plane = kPlanes[k];
    if (half->user_count() == 1 && maker != Opcode::kParameter &&
        !IsPreset(*kept_.PlaceOf(half).maker)) {
      return IsMadeTooEarly(kept_.PlaceOf(half), home);
    }
    return kept_.LastRead(home, positions_) > positions_.at(combine);
  }

  bool NeedsCopy(const Instruction* value, const MemoryPlace& home) const {
    const MemoryPlace place = kept_.PlaceOf(value);
    if (place.maker->opcode() == Opcode::kParameter) {
      const Shape& whole = place.maker->shape();
      const Shape& shape = place.index < 0
                               ? whole
                               : whole.element(static_cast<int>(place.index));
      return !(place == home) || value->shape() != shape;
    }
    if (IsPreset(*place.maker)) return true;
    if (home.maker == nullptr) return false;
    if (IsX64Combine(*place.maker)) {
      return HalfNeedsCopy(place.maker, 0, home) ||
             HalfNeedsCopy(place.maker, 1, home);
    }
    return IsMadeTooEarly(place, home);
  }

  // Of the copies in front of one instruction, which have one position, one
  // behind `copy` reads what lies at `home`.
  bool IsCopiedLater(const MemoryPlace& home, const Instruction* copy) const {
    const auto it = copies_.find(copy);
    if (it == copies_.end()) return false;
    const std::vector<Instruction*>& all = before_.at(it->second);
    return std::any_of(std::find(all.begin(), all.end(), copy), all.end(),
                       [&](const Instruction* later) {
                         return later != copy &&
                                later->opcode() == Opcode::kCopy &&
                                kept_.PlaceOf(later->operand(0)).Overlaps(home);
                       });
  }

  // An operand of the maker of `made` is, or has, what lies at `home`, and is
  // not read in step with writing that.
  bool ReadsFar(const Instruction& operand, const MemoryPlace& home,
                const MemoryPlace& made) const {
    if (operand.opcode() == Opcode::kTuple) {
      return std::any_of(operand.operands().begin(), operand.operands().end(),
                         [&](const Instruction* o) {
                           return kept_.PlaceOf(o).Overlaps(home);
                         });
    }
    // A state may lie in VMEM, where a kernel reads and writes it in place. The
    // entry's arrays come by blocks, each before its place is written.
    return kept_.PlaceOf(&operand).Overlaps(home) &&
           !ReadsInStep(operand, *made.maker, c_->IsEntry() ? -1 : made.index);
  }

  // What lies at `home` is still read when the first writer of `place` writes
  // there, and not in step.
  bool IsMadeTooEarly(const MemoryPlace& place, const MemoryPlace& home) const {
    const MemoryPlace origin = OriginOf(place, home);
    if (origin == home) return false;
    if (origin.maker->opcode() == Opcode::kParameter) return true;
    const int made = positions_.at(origin.maker);
    const int read = kept_.LastRead(home, positions_);
    if (read != made) return read > made;
    if (IsCopiedLater(home, origin.maker)) return true;
    return std::any_of(
        origin.maker->operands().begin(), origin.maker->operands().end(),
        [&](const Instruction* o) { return ReadsFar(*o, home, origin); });
  }

  MemoryPlace Home(int k) const {
    return k < static_cast<int>(homes_.size()) ? homes_[k] : MemoryPlace();
  }

  // The place is the home of another output than k, which changes it.
  bool IsOverwritten(const MemoryPlace& place, int k) const {
    if (place.maker->opcode() != Opcode::kParameter) return false;
    for (size_t j = 0; j < homes_.size(); ++j) {
      if (static_cast<int>(j) == k || !(homes_[j] == place)) continue;
      return !(kept_.PlaceOf(Output(j)) == place);
    }
    return false;
  }

  void Outputs() {
    Instruction* root = c_->root();
    if (root->opcode() != Opcode::kTuple) {
      if ((c_->IsEntry() || IsBranch(*c_)) && root->shape().IsArray() &&
          NeedsCopy(root, Home(0))) {
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
      if (value->shape().IsArray() && IsOverwritten(kept_.PlaceOf(value), k)) {
        root->ReplaceOperand(k, CopyBefore(root, value));
        saved.push_back(k);
      }
    }
    for (int k : saved) {
      if (Home(k).maker == nullptr) continue;
      root->ReplaceOperand(k, CopyBefore(root, root->operand(k)));
    }
    absl::flat_hash_set<MemoryPlace> taken;
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value = root->operand(k);
      if (!value->shape().IsArray()) continue;
      if (!NeedsCopy(value, Home(k)) &&
          taken.insert(kept_.PlaceOf(value)).second) {
        continue;
      }
      root->ReplaceOperand(k, CopyBefore(root, value));
    }
  }

  Computation* c_;
  const OutputHomes homes_;
  const KeptElements kept_;
  Positions positions_;
  // Each with the instruction that it is in front of.
  absl::flat_hash_map<const Instruction*, const Instruction*> copies_;
  std::map<const Instruction*, std::vector<Instruction*>> before_;
};

}  // namespace

absl::StatusOr<bool> CopyInsertionPass::Run(Module* module,
                                            const PassContext&) {
  if (!module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= Inserter(c, HomesOfOutputs(*c)).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
