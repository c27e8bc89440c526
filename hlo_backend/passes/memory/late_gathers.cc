#include "hlo_backend/passes/memory/late_gathers.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"

namespace ptxla::hlo {
namespace {

// Nobody writes where it lies: then it is the same later.
bool StaysAsItIs(const Instruction& value) {
  const Instruction* made = &value;
  while (made->opcode() == Opcode::kBitcast) made = made->operand(0);
  const auto is_read = [](const Instruction& i, auto&& again) -> bool {
    if (i.IsRoot()) return false;
    return std::all_of(i.users().begin(), i.users().end(),
                       [&](const Instruction* user) {
                         return user->opcode() == Opcode::kBitcast
                                    ? again(*user, again)
                                    : user->opcode() != Opcode::kTuple &&
                                          !UpdatesInPlace(*user, i);
                       });
  };
  if (made->opcode() == Opcode::kParameter) {
    const ModuleConfig& config = made->parent()->module()->config();
    for (const InputOutputAlias& a : config.input_output_alias) {
      if (a.parameter == made->parameter_number()) return false;
    }
    for (const BufferDonor& d : config.buffer_donors) {
      if (d.parameter == made->parameter_number()) return false;
    }
  } else if (made->opcode() != Opcode::kFusion &&
             made->opcode() != Opcode::kConcatenate &&
             made->opcode() != Opcode::kGather) {
    // (What others make may be a part of an array that is written.)
    return false;
  }
  return is_read(*made, is_read);
}

// The first that reads it, or names it; null: the caller does.
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
  for (Instruction* i : c->instructions()) {
    Instruction* reader = nullptr;
    if (GathersElements(*i) && !HasControlEdges(*i) &&
        HbmParameterOf(i->operand(0)) != nullptr &&
        StaysAsItIs(*i->operand(0)) && StaysAsItIs(*i->operand(1))) {
      reader = FirstReader(*i, positions);
    }
    if (reader != nullptr) {
      before[reader].push_back(i);
      moved.insert(i);
    }
  }
  if (moved.empty()) return false;
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
  bool changed = false;
  for (size_t k = 0; k < order.size(); ++k) {
    changed |= positions.at(order[k]) != static_cast<int>(k);
  }
  if (changed) c->Reorder(order);
  return changed;
}

}  // namespace ptxla::hlo
