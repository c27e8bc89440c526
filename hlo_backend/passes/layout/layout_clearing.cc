#include "hlo_backend/passes/layout/layout_clearing.h"

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/dimensions.h"

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

// Dimensions as they lie, major first; row-major if nothing is said.
DimVector MajorToMinor(const Shape& shape) {
  DimVector order;
  for (int d = 0; d < shape.rank(); ++d) order.push_back(d);
  if (!shape.has_layout()) return order;
  const auto& minor_to_major = shape.layout().minor_to_major;
  if (static_cast<int>(minor_to_major.size()) != shape.rank()) return order;
  return DimVector(minor_to_major.rbegin(), minor_to_major.rend());
}

// What a bitcast means whatever the layouts will be: the elements in the order
// in which they lie. Null: in tiles, or of another width.
Instruction* AsReshape(Instruction* bitcast) {
  Instruction* x = bitcast->operand(0);
  const Shape& from = x->shape();
  const Shape& to = bitcast->shape();
  if (!from.IsArray() || !to.IsArray() || from.type() != to.type() ||
      from.ElementCount() != to.ElementCount() || HasTiles(from) ||
      HasTiles(to)) {
    return nullptr;
  }
  Builder b(bitcast->parent());
  b.set_metadata(bitcast->shared_metadata());
  DimVector dims, back(to.rank());
  const DimVector order = MajorToMinor(to);
  for (size_t k = 0; k < order.size(); ++k) {
    dims.push_back(to.dim(static_cast<int>(order[k])));
    back[order[k]] = static_cast<int64_t>(k);
  }
  return b.Transpose(b.Reshape(b.Transpose(x, MajorToMinor(from)), dims), back);
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
    if (c->IsFusionComputation()) continue;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kBitcast) continue;
      Instruction* reshape = AsReshape(i);
      if (reshape == nullptr) continue;
      c->Replace(i, reshape);
      changed = true;
    }
  }
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) changed |= Clear(i);
  }
  return changed;
}

}  // namespace ptxla::hlo
