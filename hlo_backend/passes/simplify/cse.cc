#include "hlo_backend/passes/simplify/cse.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/hash.h"
#include "hlo_backend/ir/fingerprint.h"

namespace ptxla::hlo {
namespace {

// Equal computations have one representative: the first in post-order. The
// program is the same as before, in the order of its instructions, too.
void MergeCallees(Module* module) {
  FingerprintOptions options;
  options.order = true;
  absl::flat_hash_map<uint64_t, Computation*> by_fingerprint;
  absl::flat_hash_map<Computation*, Computation*> representative;
  for (Computation* c : module->ComputationPostOrder()) {
    if (c->IsEntry() || c->IsFusionComputation()) continue;
    auto [it, inserted] = by_fingerprint.emplace(FingerprintOf(*c, options), c);
    if (!inserted) representative[c] = it->second;
  }
  if (representative.empty()) return;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      for (int k = 0; k < static_cast<int>(i->called().size()); ++k) {
        auto it = representative.find(i->called()[k]);
        if (it == representative.end()) continue;
        i->ReplaceCalled(k, it->second);
      }
    }
  }
}

// Equal for equal ones. Only a bucket depends on it: layouts and the elements
// of tuples are left to the comparison.
uint64_t HashOf(const Instruction& i) {
  uint64_t hash = static_cast<uint64_t>(i.opcode()) << 8 |
                  static_cast<uint64_t>(i.shape().type());
  for (const int64_t size : i.shape().dims()) {
    hash = hash * 31 + static_cast<uint64_t>(size);
  }
  for (const Instruction* operand : i.operands()) {
    hash = HashCombine(hash, operand->id());
  }
  if (i.IsConstant()) return HashCombine(hash, i.literal().Fingerprint());
  return HashCombine(hash, AttributesFingerprint(i.attributes()));
}

bool MergeInstructions(Computation* computation) {
  absl::flat_hash_map<uint64_t, absl::InlinedVector<Instruction*, 1>> seen;
  seen.reserve(computation->instruction_count());
  bool changed = false;
  for (Instruction* i : computation->PostOrder()) {
    if (i->opcode() == Opcode::kParameter || i->HasSideEffect() ||
        !i->control_predecessors().empty() ||
        !i->control_successors().empty()) {
      continue;
    }
    auto& equals = seen[HashOf(*i)];
    Instruction* found = nullptr;
    for (Instruction* e : equals) {
      if (e->Identical(*i)) {
        found = e;
        break;
      }
    }
    if (found == nullptr) {
      equals.push_back(i);
    } else {
      computation->Replace(i, found);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> CsePass::Run(Module* module, const PassContext&) {
  MergeCallees(module);
  bool changed = false;
  for (Computation* c : module->ComputationPostOrder()) {
    changed |= MergeInstructions(c);
  }
  return changed;
}

}  // namespace ptxla::hlo
