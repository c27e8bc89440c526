#include "hlo_backend/passes/layout_assignment.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/operands_in_place.h"
#include "hlo_backend/passes/result_layout.h"

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
    // Users take the row-major copy, but for transposes that only say how the
    // parameter lies.
    std::vector<Instruction*> users;
    const Shape row_major = parameter->shape();
    *parameter->mutable_shape() = tiled;
    for (Instruction* user : parameter->users()) {
      if (user->opcode() != Opcode::kTranspose ||
          !IsTransposeBitcast(*user, user->shape())) {
        users.push_back(user);
      }
    }
    if (users.empty() && !parameter->IsRoot()) continue;
    Instruction* copy = entry->Add(Opcode::kCopy, row_major, {parameter});
    for (Instruction* user : users) parameter->ReplaceUseIn(user, copy);
    if (parameter->IsRoot()) entry->SetRoot(copy);
  }
  Instruction* root = entry->root();
  const Shape result = Tiled(root->shape(), &layout->result, generation);
  layout->result = result;
  if (root->opcode() == Opcode::kTuple) {
    for (int k = 0; k < root->operand_count(); ++k) {
      Instruction* value =
          WithLayout(root->operand(k), result.element(k), generation);
      if (value != root->operand(k)) root->ReplaceOperand(k, value);
    }
    *root->mutable_shape() = result;
  } else if (root->shape().IsArray() && SameOrder(result, root->shape()) &&
             root->opcode() != Opcode::kParameter) {
    *root->mutable_shape() = result;
  } else if (root->shape().IsArray() && root->shape() != result) {
    entry->SetRoot(WithLayout(root, result, generation));
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

// A program of one product of matrices, and conversions.
bool IsProductOfMatrices(const Computation& entry) {
  int dots = 0;
  for (const Instruction* i : entry.instructions()) {
    if (!i->shape().IsArray() || i->shape().rank() != 2) return false;
    if (i->opcode() == Opcode::kDot) {
      ++dots;
    } else if (i->opcode() != Opcode::kParameter &&
               i->opcode() != Opcode::kConvert) {
      return false;
    }
  }
  return dots == 1;
}

// The order of dimensions that pads an array least; of several, the default.
// Layouts of dimensions of size 1 are many, and bitcasts: they stay.
Layout LeastPadded(const Shape& shape, int generation) {
  Layout best = Layout::RowMajor(shape.rank());
  for (const int64_t d : shape.dims()) {
    if (d < 2) return best;
  }
  const auto bytes = [&](const Layout& order) {
    Shape s = shape;
    s.set_layout(order);
    return PaddedBytes(WithTpuLayout(s, generation));
  };
  Layout order = best;
  std::sort(order.minor_to_major.begin(), order.minor_to_major.end());
  do {
    if (bytes(order) < bytes(best)) best = order;
  } while (std::next_permutation(order.minor_to_major.begin(),
                                 order.minor_to_major.end()));
  return best;
}

bool HasDefaultOrder(const Shape& s) {
  return !s.IsArray() || !s.has_layout() ||
         s.layout().minor_to_major == Layout::RowMajor(s.rank()).minor_to_major;
}

// Elementwise work between parameters and results of another order of
// dimensions is done on shapes whose dimensions are in that order, behind and
// before bitcasts: what follows knows row-major arrays only.
void NameInMemoryOrder(Computation* entry, int generation) {
  const auto reordered = [](const Shape& s) {
    return s.IsArray() && !HasDefaultOrder(s);
  };
  const auto in_order = [&](const Shape& s) {
    DimVector dims;
    for (int k = s.rank() - 1; k >= 0; --k) {
      dims.push_back(s.dim(s.layout().minor_to_major[k]));
    }
    Shape result = Shape::Array(s.type(), dims);
    result.set_layout(Layout::RowMajor(s.rank()));
    result = WithTpuLayout(result, generation);
    result.mutable_layout()->memory_space = s.memory_space();
    return result;
  };
  Instruction* root = entry->root();
  std::vector<Instruction*> results = {root};
  if (root->opcode() == Opcode::kTuple) {
    results.assign(root->operands().begin(), root->operands().end());
  }
  std::vector<Shape> wanted;
  for (const Instruction* i : results) wanted.push_back(i->shape());
  for (Instruction* i : entry->PostOrder()) {
    if (!reordered(i->shape())) continue;
    if (i->opcode() != Opcode::kParameter) {
      *i->mutable_shape() = in_order(i->shape());
      continue;
    }
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    Instruction* inside =
        entry->Add(Opcode::kBitcast, in_order(i->shape()), {i});
    for (Instruction* user : users) {
      // A parameter that is a result is handed on as it is.
      if (user->opcode() != Opcode::kTuple) i->ReplaceUseIn(user, inside);
    }
  }
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k]->shape() == wanted[k]) continue;
    Instruction* outside =
        entry->Add(Opcode::kBitcast, wanted[k], {results[k]});
    if (results[k] == root) {
      entry->SetRoot(outside);
    } else {
      root->ReplaceOperand(static_cast<int>(k), outside);
    }
  }
}

// The header wishes for nothing else than the default order.
bool HasDefaultHeader(const Module& module) {
  const auto& layout = module.config().entry_layout;
  if (!layout.has_value()) return true;
  bool plain = true;
  for (const Shape& p : layout->parameters) plain = plain && HasDefaultOrder(p);
  ForEachLeaf(layout->result, [&](const Shape& s, const ShapeIndex&) {
    plain = plain && HasDefaultOrder(s);
  });
  return plain;
}

// Arrays of `like`'s rank in the shape take its order.
void Reorder(Shape* s, const Layout& like, int generation) {
  if (s->IsTuple()) {
    for (int k = 0; k < s->element_count_of_tuple(); ++k) {
      Reorder(s->mutable_element(k), like, generation);
    }
    return;
  }
  if (!s->IsArray() ||
      s->rank() != static_cast<int>(like.minor_to_major.size())) {
    return;
  }
  const int space = s->memory_space();
  s->set_layout(like);
  *s = WithTpuLayout(*s, generation);
  s->mutable_layout()->memory_space = space;
}

// Arrays that nobody reads otherwise than element by element, and the matrices
// of a lone product, lie in the order of dimensions that pads them least, as
// the TPU's runtime has it; the order of the header is taken for a wish only
// where it is not the default one.
bool MakeCompact(Module* module, int generation) {
  const Computation& entry = *module->entry();
  const Shape* shape = nullptr;
  const bool elementwise = IsElementwiseOnOneShape(entry, &shape);
  if (elementwise) {
    if (shape->rank() < 2 || shape->rank() > 3) return false;
  } else if (!IsProductOfMatrices(entry)) {
    return false;
  }
  if (!HasDefaultHeader(*module)) return false;
  const Layout of_result =
      LeastPadded(elementwise ? *shape : entry.root()->shape(), generation);
  bool changed = false;
  for (Instruction* i : entry.instructions()) {
    Layout order = of_result;
    if (!elementwise && i->opcode() == Opcode::kParameter) {
      order = LeastPadded(i->shape(), generation);
    } else if (!elementwise && i->opcode() == Opcode::kConvert &&
               i->operand(0)->opcode() != Opcode::kDot) {
      order = i->operand(0)->shape().layout();
    }
    const Shape before = i->shape();
    Reorder(i->mutable_shape(), order, generation);
    changed |= before != i->shape();
  }
  auto& layout = module->mutable_config()->entry_layout;
  if (!layout.has_value() || !changed) return changed;
  for (int k = 0; k < entry.parameter_count(); ++k) {
    const Shape& parameter = entry.parameter(k)->shape();
    if (parameter.IsArray() && parameter.has_layout()) {
      Reorder(&layout->parameters[k], parameter.layout(), generation);
    }
  }
  Reorder(&layout->result, of_result, generation);
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
  const Shape* shape = nullptr;
  if (IsElementwiseOnOneShape(*module->entry(), &shape)) {
    NameInMemoryOrder(module->entry(), generation);
  }
  for (Computation* c : ControlComputations(*module)) {
    changed |= MakeBitcasts(c);
    changed |= ReadOperandsInPlace(c, *context.chip);
  }
  return changed;
}

}  // namespace ptxla::hlo
