#include "hlo_backend/passes/layout/layout_assignment.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/layout/plane_slices.h"
#include "hlo_backend/passes/layout/result_layout.h"
#include "hlo_backend/passes/products/operands_in_place.h"

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
    // Users take the row-major copy, but for bitcasts, transposes that only say
    // how the parameter lies, and results.
    std::vector<Instruction*> users;
    const Shape row_major = parameter->shape();
    *parameter->mutable_shape() = tiled;
    for (Instruction* user : parameter->users()) {
      if (user->opcode() == Opcode::kBitcast ||
          (user->opcode() == Opcode::kTuple && user->IsRoot()) ||
          (user->opcode() == Opcode::kTranspose &&
           IsTransposeBitcast(*user, user->shape()))) {
        continue;
      }
      users.push_back(user);
    }
    if (users.empty()) continue;
    Instruction* copy = entry->Add(Opcode::kCopy, row_major, {parameter});
    for (Instruction* user : users) parameter->ReplaceUseIn(user, copy);
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

// A bitcast lies where the parameter does that it names; what stands behind the
// name of a result, where the result does.
void ShareMemorySpaces(Computation* entry) {
  const auto share = [](Instruction* i, int space) {
    if (i->shape().IsArray())
      i->mutable_shape()->mutable_layout()->memory_space = space;
  };
  for (Instruction* i : entry->instructions()) {
    if (i->opcode() == Opcode::kBitcast &&
        i->operand(0)->opcode() == Opcode::kParameter) {
      share(i, i->operand(0)->shape().memory_space());
    }
  }
  Instruction* root = entry->root();
  if (root->opcode() == Opcode::kBitcast &&
      root->operand(0)->opcode() != Opcode::kParameter) {
    share(root->operand(0), root->shape().memory_space());
  }
}

// Kernels write where they are told to.
bool IsKernelsResult(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kBitcast:
    case Opcode::kGetTupleElement:
    case Opcode::kTuple:
      return false;
    default:
      return i.shape().IsArray();
  }
}

// A kernel makes its result in the memory that one of several results has: no
// copy brings it there. (A lone result has its memory from AssignEntry().)
void MakeResultsInPlace(Computation* entry) {
  Instruction* root = entry->root();
  if (root->opcode() != Opcode::kTuple) return;
  for (int k = 0; k < root->operand_count(); ++k) {
    Instruction* copy = root->operand(k);
    if (copy->opcode() != Opcode::kCopy || copy->user_count() != 1) continue;
    Instruction* made = copy->operand(0);
    // What names its memory otherwise, or is a result elsewhere, stays there.
    const bool named =
        std::any_of(made->users().begin(), made->users().end(),
                    [](const Instruction* user) {
                      return user->opcode() == Opcode::kBitcast ||
                             user->opcode() == Opcode::kTuple;
                    });
    if (named || !IsKernelsResult(*made) || made->shape() == copy->shape() ||
        !SameOrder(made->shape(), copy->shape())) {
      continue;
    }
    *made->mutable_shape() = copy->shape();
    entry->Replace(copy, made);
  }
}

}  // namespace

absl::StatusOr<bool> LayoutAssignmentPass::Run(Module* module,
                                               const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const int generation = context.chip->generation();
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      // A bitcast with a layout names how an array of the entry lies.
      const bool names = i->opcode() == Opcode::kBitcast;
      Shape tiled =
          Tiled(i->shape(), names ? &i->shape() : nullptr, generation);
      changed |= tiled != i->shape();
      *i->mutable_shape() = std::move(tiled);
    }
  }
  changed |= AssignEntry(module, generation);
  ShareMemorySpaces(module->entry());
  for (Computation* c : ControlComputations(*module)) {
    changed |= MakeBitcasts(c);
    changed |= CutPlanesAsRows(c);
    changed |= ReadOperandsInPlace(c, *context.chip);
  }
  MakeResultsInPlace(module->entry());
  return changed;
}

}  // namespace ptxla::hlo
