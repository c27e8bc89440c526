#include "hlo_backend/passes/layout_clearing.h"

namespace ptxla::hlo {
namespace {

bool HasLayout(const Shape& shape) {
  bool has = false;
  ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
    has |= leaf.has_layout();
  });
  return has;
}

// Result type of an instruction, and the shapes that its attributes hold.
bool Clear(Instruction* i) {
  if (!HasLayout(i->shape())) return false;
  i->mutable_shape()->clear_layout();
  return true;
}

Shape WithDefaultLayouts(Shape shape) {
  if (shape.IsTuple()) {
    for (int i = 0; i < shape.element_count_of_tuple(); ++i) {
      *shape.mutable_element(i) = WithDefaultLayouts(shape.element(i));
    }
  } else if (shape.IsArray()) {
    shape.mutable_layout();
  }
  return shape;
}

}  // namespace

absl::StatusOr<bool> LayoutClearingPass::Run(Module* module,
                                             const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  ModuleConfig* config = module->mutable_config();
  if (!config->entry_layout.has_value()) {
    ProgramShape layout = module->entry()->program_shape();
    for (Shape& p : layout.parameters) p = WithDefaultLayouts(p);
    layout.result = WithDefaultLayouts(layout.result);
    config->entry_layout = std::move(layout);
  }
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) changed |= Clear(i);
  }
  return changed;
}

}  // namespace ptxla::hlo
