#include "hlo_backend/passes/layout_assignment.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

// The order of `like` (row-major if it has none) with tiles for `shape`.
Shape Tiled(const Shape& shape, const Shape* like, int generation) {
  Shape result = shape;
  if (shape.IsTuple()) {
    for (int i = 0; i < shape.element_count_of_tuple(); ++i) {
      const Shape* element = like ? &like->element(i) : nullptr;
      *result.mutable_element(i) = Tiled(shape.element(i), element, generation);
    }
  } else if (shape.IsArray()) {
    Layout order = Layout::RowMajor(shape.rank());
    if (like != nullptr && like->has_layout()) {
      order.minor_to_major = like->layout().minor_to_major;
    }
    result.set_layout(order);
    result = WithTpuLayout(result, generation);
    if (like != nullptr && like->has_layout()) {
      result.mutable_layout()->memory_space = like->layout().memory_space;
    }
  }
  return result;
}

// The same but for the memory space.
bool SameOrder(Shape a, const Shape& b) {
  a.mutable_layout()->memory_space = b.memory_space();
  return a == b;
}

// transpose(x) with the shape `y` lies where x lies if its layout is x's,
// permuted.
bool IsTransposeBitcast(const Instruction& t, const Shape& y) {
  const Shape& x = t.operand(0)->shape();
  if (x.layout().tiles.size() != y.layout().tiles.size()) return false;
  for (int k = 0; k < x.rank(); ++k) {
    const int64_t d = y.layout().minor_to_major[k];
    if (x.layout().minor_to_major[k] != t.dimensions()[d]) return false;
  }
  return x.layout().tiles == y.layout().tiles;
}

// `value` with this layout: of a transpose where that makes it a bitcast, the
// transposed array itself; other values are copied.
Instruction* WithLayout(Instruction* value, const Shape& wanted) {
  if (!value->shape().IsArray() || value->shape() == wanted) return value;
  if (value->opcode() == Opcode::kTranspose &&
      IsTransposeBitcast(*value, wanted)) {
    return value->parent()->AddLike(*value, wanted, {value->operand(0)});
  }
  return value->parent()->Add(Opcode::kCopy, wanted, {value});
}

// Data movement that moves nothing becomes a bitcast.
bool MakeBitcasts(Computation* c) {
  bool changed = false;
  for (Instruction* i : c->PostOrder()) {
    bool is_bitcast = false;
    if (i->opcode() == Opcode::kReshape) {
      is_bitcast = IsTiledBitcast(i->operand(0)->shape(), i->shape());
    } else if (i->opcode() == Opcode::kTranspose) {
      is_bitcast = IsTransposeBitcast(*i, i->shape());
    }
    if (!is_bitcast) continue;
    Instruction* bitcast =
        c->Add(Opcode::kBitcast, i->shape(), {i->operand(0)});
    c->Replace(i, bitcast);
    changed = true;
  }
  return changed;
}

// The entry's parameters and result as the module's header says.
bool AssignEntry(Module* module, int generation) {
  Computation* entry = module->entry();
  auto& layout = module->mutable_config()->entry_layout;
  if (!layout.has_value()) layout = entry->program_shape();
  const ProgramShape before = *layout;
  for (int p = 0; p < entry->parameter_count(); ++p) {
    Instruction* parameter = entry->parameter(p);
    const Shape tiled =
        Tiled(parameter->shape(), &layout->parameters[p], generation);
    layout->parameters[p] = tiled;
    if (!tiled.IsArray() || SameOrder(tiled, parameter->shape())) {
      *parameter->mutable_shape() = tiled;
      continue;
    }
    // Users take the row-major copy.
    Instruction* copy =
        entry->Add(Opcode::kCopy, parameter->shape(), {parameter});
    const std::vector<Instruction*> users(parameter->users().begin(),
                                          parameter->users().end());
    for (Instruction* user : users) {
      if (user != copy) parameter->ReplaceUseIn(user, copy);
    }
    if (parameter->IsRoot()) entry->SetRoot(copy);
    *parameter->mutable_shape() = tiled;
  }
  Instruction* root = entry->root();
  const Shape result = Tiled(root->shape(), &layout->result, generation);
  layout->result = result;
  if (root->opcode() == Opcode::kTuple) {
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value = WithLayout(root->operand(k), result.element(k));
      if (value != root->operand(k)) root->ReplaceOperand(k, value);
    }
    *root->mutable_shape() = result;
  } else if (root->shape().IsArray() && SameOrder(result, root->shape()) &&
             root->opcode() != Opcode::kParameter) {
    *root->mutable_shape() = result;
  } else if (root->shape().IsArray() && root->shape() != result) {
    entry->SetRoot(WithLayout(root, result));
  }
  return !(before.result == layout->result) ||
         before.parameters != layout->parameters;
}

// A program of elementwise work on one shape, from parameters to results.
bool IsElementwiseOnOneShape(const Computation& entry, const Shape** shape) {
  *shape = nullptr;
  for (const Instruction* i : entry.instructions()) {
    if (i->opcode() == Opcode::kTuple) {
      if (!i->IsRoot()) return false;
      continue;
    }
    if (!i->shape().IsArray()) return false;
    if (i->shape().IsScalar()) continue;
    const bool spread =
        i->opcode() == Opcode::kBroadcast && i->operand(0)->shape().IsScalar();
    if (i->opcode() != Opcode::kParameter && !spread &&
        (!i->IsElementwise() || i->opcode() == Opcode::kCopy)) {
      return false;
    }
    if (*shape == nullptr) *shape = &i->shape();
    if (!i->shape().SameDims(**shape)) return false;
  }
  return *shape != nullptr;
}

// Arrays that nobody reads otherwise than element by element lie in the order
// of dimensions that pads them least; the order of the header is taken for a
// wish only where it is not the default one.
bool MakeCompact(Module* module, int generation) {
  auto& layout = module->mutable_config()->entry_layout;
  const Shape* shape = nullptr;
  if (!IsElementwiseOnOneShape(*module->entry(), &shape)) return false;
  const int64_t rank = shape->rank();
  if (rank < 2 || rank > 3) return false;
  for (const int64_t d : shape->dims()) {
    if (d < 2) return false;  // layouts of such are many, and bitcasts
  }
  const auto is_default = [](const Shape& s) {
    return !s.IsArray() || !s.has_layout() ||
           s.layout().minor_to_major ==
               Layout::RowMajor(s.rank()).minor_to_major;
  };
  if (layout.has_value()) {
    for (const Shape& p : layout->parameters) {
      if (!is_default(p)) return false;
    }
    bool plain = true;
    ForEachLeaf(layout->result, [&](const Shape& s, const ShapeIndex&) {
      plain = plain && is_default(s);
    });
    if (!plain) return false;
  }
  Layout best = Layout::RowMajor(rank);
  const auto bytes = [&](const Layout& order) {
    Shape s = *shape;
    s.set_layout(order);
    return PaddedBytes(WithTpuLayout(s, generation));
  };
  Layout order = best;
  std::sort(order.minor_to_major.begin(), order.minor_to_major.end());
  do {
    if (bytes(order) < bytes(best)) best = order;
  } while (std::next_permutation(order.minor_to_major.begin(),
                                 order.minor_to_major.end()));
  if (best.minor_to_major == Layout::RowMajor(rank).minor_to_major) {
    return false;
  }
  const auto reorder = [&](Shape* s) {
    if (!s->IsArray() || s->rank() != rank) return;
    const int space = s->memory_space();
    s->set_layout(best);
    *s = WithTpuLayout(*s, generation);
    s->mutable_layout()->memory_space = space;
  };
  for (Instruction* i : module->entry()->instructions()) {
    if (i->opcode() == Opcode::kTuple) {
      for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
        reorder(i->mutable_shape()->mutable_element(k));
      }
    } else {
      reorder(i->mutable_shape());
    }
  }
  if (!layout.has_value()) return true;
  for (Shape& p : layout->parameters) reorder(&p);
  if (layout->result.IsArray()) {
    reorder(&layout->result);
  } else {
    for (int k = 0; k < layout->result.element_count_of_tuple(); ++k) {
      reorder(layout->result.mutable_element(k));
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<bool> LayoutAssignmentPass::Run(Module* module,
                                               const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const int generation = context.chip->generation();
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      Shape tiled = Tiled(i->shape(), nullptr, generation);
      changed |= tiled != i->shape();
      *i->mutable_shape() = std::move(tiled);
    }
  }
  changed |= MakeCompact(module, generation);
  changed |= AssignEntry(module, generation);
  for (Computation* c : ControlComputations(*module)) {
    changed |= MakeBitcasts(c);
  }
  return changed;
}

}  // namespace ptxla::hlo
