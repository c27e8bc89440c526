#include "hlo_backend/passes/call_inliner.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

bool CanInlineMap(const Instruction& map) {
  for (const Instruction* i : map.to_apply()->instructions()) {
    const bool leaf = i->opcode() == Opcode::kParameter ||
                      (i->IsConstant() && i->shape().IsScalar());
    if (!leaf && !i->IsElementwise()) return false;
  }
  return true;
}

// Another compiler's, of a form that no kernel here has.
bool IsForeignFusion(const Instruction& i) {
  return i.opcode() == Opcode::kFusion && !CheckFusion(i).ok();
}

Instruction* InlineMap(Instruction* map) {
  Computation* c = map->parent();
  Builder b(c);
  absl::flat_hash_map<const Instruction*, Instruction*> values;
  for (Instruction* i : map->to_apply()->PostOrder()) {
    if (i->opcode() == Opcode::kParameter) {
      values[i] = map->operand(static_cast<int>(i->parameter_number()));
      continue;
    }
    if (i->IsConstant()) {
      values[i] =
          b.BroadcastScalar(b.Constant(i->literal()), map->shape().dims());
      continue;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(values[o]);
    values[i] = c->AddLike(
        *i, Shape::Array(i->shape().type(), map->shape().dims()), operands);
  }
  return values[map->to_apply()->root()];
}

}  // namespace

absl::StatusOr<bool> CallInlinerPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : module->ComputationPostOrder()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kCall || IsForeignFusion(*i)) {
        InlineCall(i);
        changed = true;
      } else if (i->opcode() == Opcode::kMap && CanInlineMap(*i)) {
        c->Replace(i, InlineMap(i));
        changed = true;
      }
    }
  }
  if (changed) module->RemoveUnusedComputations();
  return changed;
}

}  // namespace ptxla::hlo
