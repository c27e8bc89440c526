#include "hlo_backend/compiler/refused_operands.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/lowering/kernel_decision.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/prefetch_source.h"

namespace ptxla::hlo {
namespace {

// Returns how many leaves come before what follows the shape.
int SetLeafToHbm(Shape* shape, int leaf, int at = 0) {
  if (!shape->IsTuple()) {
    if (at == leaf) shape->mutable_layout()->memory_space = kMemoryHbm;
    return at + 1;
  }
  for (int k = 0; k < shape->element_count_of_tuple(); ++k) {
    at = SetLeafToHbm(shape->mutable_element(k), leaf, at);
  }
  return at;
}

}  // namespace

void MoveToHbm(Instruction* value, int leaf) {
  SetLeafToHbm(value->mutable_shape(), leaf);
  if (value->opcode() == Opcode::kFusion) {
    Instruction* root = value->fused()->root();
    SetLeafToHbm(root->mutable_shape(), leaf);
    if (root->opcode() == Opcode::kTuple) {
      SetLeafToHbm(root->operand(leaf)->mutable_shape(), 0);
    }
  }
  for (Instruction* user : value->users()) {
    if (user->opcode() != Opcode::kFusion) continue;
    for (int k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) != value) continue;
      SetLeafToHbm(user->fused()->parameter(k)->mutable_shape(), leaf);
    }
  }
}

namespace {

// All that a value has in VMEM; false: nothing.
bool MoveLeavesToHbm(Instruction* value) {
  bool moved = false;
  int leaf = 0;
  ForEachLeaf(value->shape(), [&](const Shape& shape, const ShapeIndex&) {
    if (shape.has_layout() && shape.memory_space() == kMemoryVmem) {
      MoveToHbm(value, leaf);
      moved = true;
    }
    ++leaf;
  });
  return moved;
}

// Would there be a kernel if these operands of it lay in HBM?
bool IsKernelFromHbm(Instruction* kernel,
                     const std::vector<Instruction*>& operands,
                     const chips::ChipSpec& chip) {
  for (Instruction* o : operands) SetMemorySpace(o, -1, kMemoryHbm);
  const bool made = lowering::DecideKernel(*kernel, chip).ok();
  for (Instruction* o : operands) SetMemorySpace(o, -1, kMemoryVmem);
  return made;
}

// Operands in VMEM that the kernel's windows slide over.
std::vector<Instruction*> WindowedOperands(const Instruction& kernel) {
  std::vector<Instruction*> windowed;
  for (Instruction* operand : kernel.operands()) {
    const Shape& shape = operand->shape();
    if (shape.IsArray() && shape.has_layout() &&
        shape.memory_space() == kMemoryVmem && ReadsWindows(kernel, *operand)) {
      windowed.push_back(operand);
    }
  }
  return windowed;
}

// The operand's source in its place; what is added to name it stands before the
// kernel, the last of `order`. False: it has none.
bool ReadSource(Instruction* kernel, Instruction* operand,
                std::vector<Instruction*>* order) {
  const int added = kernel->parent()->module()->NextInstructionId();
  Instruction* source = ReadFromSource(operand);
  if (source == nullptr) return false;
  const auto at = order->end() - 1 - order->begin();
  for (Instruction* i = source; i->id() >= added; i = i->operand(0)) {
    order->insert(order->begin() + at, i);
  }
  operand->ReplaceUseIn(kernel, source);
  return true;
}

bool BringWindows(Computation* c, const RefusedKernels& refused,
                  const chips::ChipSpec& chip) {
  bool moved = false, read = false;
  std::vector<Instruction*> all, order;
  for (Instruction* i : c->instructions()) all.push_back(i);
  for (Instruction* i : all) {
    order.push_back(i);
    if (!refused.contains(KernelFingerprint(*i))) continue;
    const std::vector<Instruction*> windowed = WindowedOperands(*i);
    if (windowed.empty() || !IsKernelFromHbm(i, windowed, chip)) continue;
    for (Instruction* operand : windowed) {
      if (ReadSource(i, operand, &order)) {
        read = true;
      } else if (ConvolutionOf(*i) != nullptr) {
        moved |= MoveLeavesToHbm(operand);
      }
    }
  }
  if (read) {
    c->Reorder(order);
    c->RemoveDead();
  }
  return moved || read;
}

}  // namespace

bool BringWindowsToHbm(Module* module, const RefusedKernels& refused,
                       const chips::ChipSpec& chip) {
  bool moved = false;
  for (Computation* c : ControlComputations(*module)) {
    moved |= BringWindows(c, refused, chip);
  }
  return moved;
}

namespace {

// The kernel reads copies of its operands in SMEM: of those copied before, or
// added to `copies`. False: there is no kernel of that kind either, or no such
// operand.
using Copies = absl::flat_hash_map<Instruction*, Instruction*>;
bool ReadCopies(Instruction* kernel, const chips::ChipSpec& chip,
                Copies* copies, std::vector<Instruction*>* order) {
  Computation* c = kernel->parent();
  std::vector<std::pair<int, Instruction*>> scalars;
  for (int k = 0; k < kernel->operand_count(); ++k) {
    const Shape& shape = kernel->operand(k)->shape();
    if (!shape.IsArray() || shape.memory_space() != kMemorySmem) continue;
    scalars.emplace_back(k, kernel->operand(k));
  }
  const auto read = [&](int k, Instruction* value) {
    kernel->ReplaceOperand(k, value);
    if (kernel->opcode() != Opcode::kFusion) return;
    SetSpace(kernel->fused()->parameter(k)->mutable_shape(),
             value->shape().memory_space());
  };
  std::vector<Instruction*> added;
  for (const auto& [k, scalar] : scalars) {
    Instruction*& copy = (*copies)[scalar];
    if (copy == nullptr) {
      Shape shape = scalar->shape();
      SetSpace(&shape, kMemoryHbm);
      copy = c->Add(Opcode::kCopy, shape, {scalar});
      added.push_back(copy);
    }
    read(k, copy);
  }
  if (!scalars.empty() && lowering::DecideKernel(*kernel, chip).ok()) {
    order->insert(order->end(), added.begin(), added.end());
    return true;
  }
  for (const auto& [k, scalar] : scalars) read(k, scalar);
  for (Instruction* copy : added) {
    copies->erase(copy->operand(0));
    c->Remove(copy);
  }
  return false;
}

}  // namespace

bool CopyScalarsToHbm(Module* module, const RefusedKernels& refused,
                      const chips::ChipSpec& chip) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    Copies copies;
    std::vector<Instruction*> all, order;
    for (Instruction* i : c->instructions()) all.push_back(i);
    bool here = false;
    for (Instruction* i : all) {
      if (i->opcode() == Opcode::kCopy &&
          i->shape().memory_space() == kMemoryHbm) {
        copies.emplace(i->operand(0), i);
      } else if (refused.contains(KernelFingerprint(*i))) {
        here |= ReadCopies(i, chip, &copies, &order);
      }
      order.push_back(i);
    }
    if (here) c->Reorder(order);
    changed |= here;
  }
  return changed;
}

bool BringToHbm(Module* module, const RefusedKernels& refused) {
  bool moved = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->instructions()) {
      if (!refused.contains(KernelFingerprint(*i))) continue;
      for (Instruction* operand : i->operands())
        moved |= MoveLeavesToHbm(operand);
      moved |= MoveLeavesToHbm(i);
    }
  }
  return moved;
}

}  // namespace ptxla::hlo
