#include "hlo_backend/compiler/buffer_lives.h"

#include <algorithm>

#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/compiler/buffer_ties.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {
namespace {

bool OnlyNames(const Instruction& i) {
  return OnlyNamesMemory(i) || i.opcode() == Opcode::kTuple ||
         IsConcatBitcast(i);
}

}  // namespace

// Of what names a slice.
int BufferLives::LastRead(const Instruction& name) const {
  int last = 0;
  for (const Instruction* user : name.users()) {
    last = std::max(last, OnlyNamesMemory(*user) ? LastRead(*user)
                                                 : schedule_.PositionOf(*user));
  }
  return last;
}

BufferLives::BufferLives(const ScheduleLeaves& schedule)
    : schedule_(schedule), classes_(schedule.classes()) {
  TieWhereTheyLie(schedule, &classes_);
  info_.resize(classes_.leaf_count());
  const Instruction* root = schedule.module().entry()->root();
  schedule.ForEachThatRuns([&](const Instruction& i) {
    int leaf = classes_.First(&i);
    ForEachLeaf(i.shape(), [&](const Shape& shape, const ShapeIndex&) {
      Add(i, leaf, shape, &i == root);
      ++leaf;
    });
  });
}

void BufferLives::Add(const Instruction& i, int leaf, const Shape& shape,
                      bool is_output) {
  if (!HasMemory(shape)) return;
  const BufferClasses::At at = classes_.Find(leaf);
  ClassInfo& info = info_[at.root];
  info.begin = std::min(info.begin, at.offset);
  info.end = std::max(info.end, at.offset + schedule_.BytesOf(leaf));
  info.first = std::min(info.first, schedule_.PositionOf(i));
  info.last = std::max(info.last, schedule_.PositionOf(i));
  if (!OnlyNames(i)) ++info.uses;
  for (const Instruction* user : i.users()) {
    // A body's values may be read by what runs in it only.
    info.last = std::max(info.last, schedule_.PositionOf(*user));
    // Who reads a slice in place reads where it begins, too.
    if (IsInPlace(*user)) info.last = std::max(info.last, LastRead(*user));
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
