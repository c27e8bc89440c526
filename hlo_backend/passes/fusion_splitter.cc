#include "hlo_backend/passes/fusion_splitter.h"

#include <vector>

#include "base/status.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/fusion.h"
#include "hlo_backend/passes/movement_fusion.h"
#include "hlo_backend/passes/row_fusion.h"
#include "hlo_backend/passes/tuple_simplifier.h"

namespace ptxla::hlo {
namespace {

bool IsWindowed(const Instruction& fusion) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() != Opcode::kConvolution) continue;
    for (const Instruction* o : i->operands()) {
      while (o->opcode() == Opcode::kConvert) o = o->operand(0);
      if (o->opcode() != Opcode::kParameter) return true;
    }
  }
  return false;
}

// A convolution's operands are only converted on their way.
bool IsKernel(const Instruction& fusion) {
  return CheckFusion(fusion).ok() && !IsWindowed(fusion);
}

// The body with kernels of our own, as a computation of `module`.
absl::StatusOr<Computation*> Kernels(const Instruction& fusion, Module* module,
                                     const PassContext& context) {
  Module apart(module->name());
  *apart.mutable_config() = module->config();
  apart.mutable_config()->is_scheduled = false;
  Module::ComputationMap there, back;
  apart.SetEntry(
      apart.CloneComputation(*fusion.fused(), fusion.name(), &there));
  RETURN_IF_ERROR(RowFusionPass().Run(&apart, context).status());
  RETURN_IF_ERROR(FusionPass().Run(&apart, context).status());
  RETURN_IF_ERROR(MovementFusionPass().Run(&apart, context).status());
  apart.entry()->RemoveDead();
  return module->CloneComputation(*apart.entry(), fusion.name(), &back);
}

// A value in `shape`'s layout and memory space; what it is a view of, in that
// space too.
void GiveShape(Instruction* value, const Shape& shape) {
  if (value->opcode() == Opcode::kParameter) return;
  *value->mutable_shape() = shape;
  if (value->opcode() == Opcode::kTuple) {
    for (int k = 0; k < value->operand_count(); ++k) {
      GiveShape(value->operand(k), shape.element(k));
    }
  } else if (value->opcode() == Opcode::kBitcast &&
             value->operand(0)->shape().has_layout()) {
    Shape below = value->operand(0)->shape();
    below.mutable_layout()->memory_space = shape.memory_space();
    GiveShape(value->operand(0), below);
  }
}

// Puts the body's kernels in the fusion's place.
void PutInPlace(Instruction* fusion, Computation* body) {
  Computation* c = fusion->parent();
  const std::vector<Instruction*> operands(fusion->operands().begin(),
                                           fusion->operands().end());
  Instruction* call =
      c->Add(Opcode::kCall, fusion->shape(), operands, {}, {body});
  call->set_metadata(fusion->shared_metadata());
  fusion->ReplaceAllUsesWith(call);
  fusion->DropControlDependencies();
  c->Remove(fusion);
  InlineCall(call);
}

std::vector<Instruction*> InOrder(const Computation& c) {
  std::vector<Instruction*> all;
  for (Instruction* i : c.instructions()) all.push_back(i);
  return all;
}

absl::StatusOr<bool> Split(Computation* c, const PassContext& context) {
  // The order as it will be; null: what a fusion became, whose ids begin at
  // the next of `begins`.
  std::vector<Instruction*> slots = InOrder(*c);
  std::vector<int> begins;
  for (Instruction*& i : slots) {
    if (i->opcode() != Opcode::kFusion || IsKernel(*i)) continue;
    ASSIGN_OR_RETURN(Computation * body, Kernels(*i, c->module(), context),
                     _ << "%" << i->name());
    // A result keeps the layout and memory space that the fusion gave it.
    GiveShape(body->root(), i->shape());
    begins.push_back(c->module()->NextInstructionId());
    PutInPlace(i, body);
    i = nullptr;
  }
  if (begins.empty()) return false;
  // What was added stands at the end.
  const std::vector<Instruction*> all = InOrder(*c);
  size_t added = slots.size() - begins.size(), split = 0;
  std::vector<Instruction*> order;
  for (Instruction* i : slots) {
    if (i != nullptr) {
      order.push_back(i);
      continue;
    }
    const bool last = ++split == begins.size();
    while (added < all.size() && (last || all[added]->id() < begins[split])) {
      order.push_back(all[added++]);
    }
  }
  c->Reorder(order);
  return true;
}

}  // namespace

absl::StatusOr<bool> FusionSplitterPass::Run(Module* module,
                                             const PassContext& context) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    ASSIGN_OR_RETURN(const bool here, Split(c, context));
    changed |= here;
  }
  if (!changed) return false;
  RETURN_IF_ERROR(TupleSimplifierPass().Run(module, context).status());
  module->RemoveUnusedComputations();
  return true;
}

}  // namespace ptxla::hlo
