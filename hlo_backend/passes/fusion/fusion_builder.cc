#include "hlo_backend/passes/fusion/fusion_builder.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::hlo {
namespace {

class Gatherer {
 public:
  Gatherer(Computation* c, const FusionChains& chains)
      : c_(c), chains_(chains) {}

  void AddMember(Instruction* member) {
    const bool dot = IsProduct(*member);
    for (int k = 0; k < member->operand_count(); ++k) {
      if (dot && !chains_.node(member).prologue[k]) continue;
      Instruction* value = Inside(member->operand(k));
      if (value != member->operand(k)) member->ReplaceOperand(k, value);
    }
    group_.push_back(member);
  }

  const std::vector<Instruction*>& group() const { return group_; }

 private:
  // The value itself, or its clone for this kernel.
  Instruction* Inside(Instruction* value) {
    if (chains_.node(value).placed) return value;
    auto it = clones_.find(value);
    if (it != clones_.end()) return it->second;
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) operands.push_back(Inside(o));
    Instruction* clone = c_->AddLike(*value, value->shape(), operands);
    clones_[value] = clone;
    group_.push_back(clone);
    return clone;
  }

  Computation* c_;
  const FusionChains& chains_;
  absl::flat_hash_map<Instruction*, Instruction*> clones_;
  std::vector<Instruction*> group_;
};

// A reduce's start, and a dot's operands that are stored anyway, make no
// kernel of several instructions.
bool StaysAlone(const FusionChains& chains, const Instruction& member) {
  const bool reduce = member.opcode() == Opcode::kReduce;
  const bool dot = IsProduct(member);
  for (int k = 0; k < member.operand_count(); ++k) {
    if (reduce && k == 1) continue;
    if (dot && !chains.node(&member).prologue[k]) continue;
    if (!chains.node(member.operand(k)).placed) return false;
  }
  return true;
}

}  // namespace

std::optional<FusionPlan> PlanFusion(Computation* c, const FusionChains& chains,
                                     const std::vector<Instruction*>& members,
                                     FusionKind kind) {
  if (members.size() == 1 && StaysAlone(chains, *members[0])) return {};
  Gatherer gatherer(c, chains);
  FusionPlan plan;
  plan.kind = kind;
  plan.name = absl::StrCat(OpcodeName(members.back()->opcode()), "_fusion");
  for (Instruction* m : members) {
    // What a kernel is about: its product, else what it makes last.
    if (m->shared_metadata() != nullptr &&
        (IsProduct(*m) || kind != FusionKind::kOutput)) {
      plan.metadata = m->shared_metadata();
    }
    gatherer.AddMember(m);
  }
  plan.group = gatherer.group();
  return plan;
}

void BuildFusion(Computation* c, const FusionPlan& plan) {
  Instruction* fusion = c->CreateFusion(plan.group, plan.kind, plan.name);
  if (plan.metadata != nullptr) fusion->set_metadata(plan.metadata);
}

}  // namespace ptxla::hlo
