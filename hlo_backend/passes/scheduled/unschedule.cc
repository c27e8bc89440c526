#include "hlo_backend/passes/scheduled/unschedule.h"

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// The width of the elements stays, so that the bits lie where they lay.
void TypeOfBitcast(Instruction* bitcast) {
  Instruction* x = bitcast->operand(0);
  const Shape &from = x->shape(), &to = bitcast->shape();
  if (!from.IsArray() || !to.IsArray() || from.type() == to.type() ||
      BitWidth(from.type()) != BitWidth(to.type()) ||
      from.ElementCount() != to.ElementCount()) {
    return;
  }
  Builder b(bitcast->parent());
  b.set_metadata(bitcast->shared_metadata());
  Shape converted = from;
  converted.set_type(to.type());
  Instruction* bits = b.BitcastConvert(x, converted);
  if (!(converted == to)) bits = b.Emit(Opcode::kBitcast, {bits}, {}, {}, &to);
  bitcast->parent()->Replace(bitcast, bits);
}

}  // namespace

bool HasTiledLayouts(const Module& module) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      bool tiled = false;
      ForEachLeaf(i->shape(), [&](const Shape& s, const ShapeIndex&) {
        tiled |= s.IsArray() && s.has_layout() && !s.layout().tiles.empty();
      });
      if (tiled) return true;
    }
  }
  return false;
}

void Unschedule(Module* module) {
  for (Computation* c : module->ComputationPostOrder()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kFusion) InlineCall(i);
    }
  }
  module->RemoveUnusedComputations();
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      i->DropControlDependencies();
      if (i->opcode() == Opcode::kBitcast) TypeOfBitcast(i);
    }
  }
  module->mutable_config()->is_scheduled = false;
}

}  // namespace ptxla::hlo
