#include "hlo_backend/compiler/buffer_lives.h"

#include <algorithm>

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/compiler/buffer_ties.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {
namespace {

bool OnlyNames(const Instruction& i) {
  return OnlyNamesMemory(i) || i.opcode() == Opcode::kTuple ||
         IsConcatBitcast(i);
}

}  // namespace

BufferLives::BufferLives(const Module& module, const chips::ChipSpec& chip)
    : chip_(chip),
      computations_(ControlComputations(module)),
      classes_(computations_) {
  TieLeaves(module, computations_, chip, &classes_);
  Number(*module.entry());
  info_.resize(classes_.leaf_count());
  const Instruction* root = module.entry()->root();
  ForEachThatRuns([&](const Instruction& i) {
    int leaf = classes_.First(&i);
    ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
      Add(i, leaf, shape, &i == root);
      ++leaf;
    });
  });
}

// Positions: bodies run before the instruction that calls them is done.
void BufferLives::Number(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
        i->opcode() == Opcode::kCall) {
      for (const Computation* callee : i->called()) Number(*callee);
    }
    position_.Set(*i, next_position_++);
  }
}

void BufferLives::ForEachThatRuns(
    absl::FunctionRef<void(const Instruction&)> fn) const {
  for (const Computation* c : computations_) {
    for (const Instruction* i : c->instructions()) {
      if (position_.Of(*i) >= 0) fn(*i);
    }
  }
}

void BufferLives::Add(const Instruction& i, int leaf, const Shape& shape,
                      bool is_output) {
  if (!HasMemory(shape)) return;
  const BufferClasses::At at = classes_.Find(leaf);
  ClassInfo& info = info_[at.root];
  info.begin = std::min(info.begin, at.offset);
  info.end = std::max(info.end, at.offset + LeafBytes(shape, chip_));
  info.first = std::min(info.first, position_.Of(i));
  info.last = std::max(info.last, position_.Of(i));
  if (!OnlyNames(i)) ++info.uses;
  for (const Instruction* user : i.users()) {
    // A body's values may be read by what runs in it only.
    info.last = std::max(info.last, position_.Of(*user));
    if (!OnlyNames(*user)) ++info.uses;
  }
  if (i.opcode() == Opcode::kParameter && i.parent()->IsEntry()) {
    info.parameter = static_cast<int>(i.parameter_number());
  }
  info.output |= is_output;
  info.constant |= IsPreset(i);
  info.scalar &= shape.ElementCount() == 1;
  info.mixed |=
      info.maker != nullptr && info.memory_space != shape.memory_space();
  if (shape.memory_space() != kMemoryHbm) {
    info.memory_space = shape.memory_space();
  }
  // Names come after what they name, but for parameters of bodies.
  if (info.maker == nullptr || i.opcode() == Opcode::kParameter) {
    info.maker = &i;
    info.leaf = leaf;
  }
}

}  // namespace ptxla::hlo
