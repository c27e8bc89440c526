#include "hlo_backend/passes/fusion/stored_converts.h"

#include <vector>

#include "hlo_backend/passes/fusion/fusion_nodes.h"

namespace ptxla::hlo {
namespace {

bool Widens(const Instruction& i) {
  return i.opcode() == Opcode::kConvert && i.shape().rank() >= 2 &&
         !i.IsRoot() &&
         BitWidth(i.operand(0)->shape().type()) < BitWidth(i.shape().type());
}

}  // namespace

bool PartStoredConverts(Computation* c) {
  const std::vector<Instruction*> order = c->PostOrder();
  const FusionNodes nodes(order);
  bool changed = false;
  for (Instruction* i : order) {
    if (!Widens(*i) || nodes.of(i).role != FusionRole::kElementwise) continue;
    std::vector<Instruction*> stored;
    for (Instruction* user : i->users()) {
      if (nodes.of(user).role == FusionRole::kStored) stored.push_back(user);
    }
    if (stored.empty() || stored.size() == i->users().size()) continue;
    Instruction* own = c->AddLike(*i, i->shape(), i->operands());
    for (Instruction* user : stored) i->ReplaceUseIn(user, own);
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
