#include "hlo_backend/passes/memory/late_gathers.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"

namespace ptxla::hlo {
namespace {

// The first that reads it by any name; null: the caller does.
Instruction* FirstReader(const Instruction& value, const Positions& positions) {
  if (value.IsRoot()) return nullptr;
  Instruction* first = nullptr;
  for (Instruction* user : value.users()) {
    if (user->opcode() == Opcode::kTuple && user->IsRoot()) continue;
    if (first == nullptr || positions.at(user) < positions.at(first)) {
      first = user;
    }
  }
  return first;
}

}  // namespace

bool MoveGathersToTheirReaders(Computation* c) {
  const Positions positions = PositionsOf(*c);
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> before;
  absl::flat_hash_set<const Instruction*> moved;
  std::vector<Instruction*> order;
  bool changed = false;
  for (Instruction* i : c->instructions()) {
    Instruction* reader = nullptr;
    if (GathersElements(*i) && !HasControlEdges(*i) &&
        HbmParameterOf(i->operand(0)) != nullptr) {
      reader = FirstReader(*i, positions);
    }
    if (reader != nullptr) {
      before[reader].push_back(i);
      moved.insert(i);
      changed |= positions.at(reader) != positions.at(i) + 1;
    }
  }
  if (!changed) return false;
  const auto put = [&](Instruction* i, auto&& again) -> void {
    const auto it = before.find(i);
    if (it != before.end()) {
      for (Instruction* gather : it->second) again(gather, again);
    }
    order.push_back(i);
  };
  for (Instruction* i : c->instructions()) {
    if (!moved.contains(i)) put(i, put);
  }
  c->Reorder(order);
  return true;
}

}  // namespace ptxla::hlo
