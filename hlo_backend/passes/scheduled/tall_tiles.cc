#include "hlo_backend/passes/scheduled/tall_tiles.h"

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

bool IsTall(const Shape& shape) {
  if (!shape.IsArray() || !shape.has_layout()) return false;
  const auto& tiles = shape.layout().tiles;
  return tiles.size() == 2 && tiles[0] == Tile{{16, 128}} &&
         tiles[1] == Tile{{2, 1}};
}

bool HasTall(const Shape& shape) {
  for (int k = 0; k < shape.element_count_of_tuple(); ++k) {
    if (HasTall(shape.element(k))) return true;
  }
  return IsTall(shape);
}

bool Halve(Shape* shape) {
  bool changed = false;
  for (int k = 0; k < shape->element_count_of_tuple(); ++k) {
    changed |= Halve(shape->mutable_element(k));
  }
  if (!IsTall(*shape)) return changed;
  shape->mutable_layout()->tiles[0].dimensions[0] = 8;
  return true;
}

}  // namespace

bool HalveTallTiles(Module* module) {
  for (const Instruction* p : module->entry()->parameters()) {
    if (HasTall(p->shape())) return false;
  }
  if (HasTall(module->entry()->root()->shape())) return false;
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      changed |= Halve(i->mutable_shape());
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
