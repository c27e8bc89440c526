#include "hlo_backend/compiler/schedule_leaves.h"

#include "hlo_backend/compiler/buffer_ties.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {

ScheduleLeaves::ScheduleLeaves(const Module& module,
                               const chips::ChipSpec& chip)
    : module_(module),
      chip_(chip),
      computations_(ControlComputations(module)),
      classes_(computations_) {
  TieEverywhere(module, computations_, chip, &classes_);
  bytes_.reserve(classes_.leaf_count());
  for (const Computation* c : computations_) {
    for (const Instruction* i : c->instructions()) {
      ForEachLeaf(i->shape(), [&](const Shape& shape, const ShapeIndex&) {
        bytes_.push_back(LeafBytes(shape, chip));
      });
      if (IsX64Combine(*i) || IsConcatBitcast(*i)) assembled_.push_back(i);
    }
    const auto shared = SharedPlaces(*c, PositionsOf(*c));
    shared_.insert(shared_.end(), shared.begin(), shared.end());
  }
  Number(*module.entry());
}

// Positions: bodies run before the instruction that calls them is done.
void ScheduleLeaves::Number(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
        i->opcode() == Opcode::kCall) {
      for (const Computation* callee : i->called()) Number(*callee);
    }
    position_.Set(*i, next_position_++);
  }
}

void ScheduleLeaves::ForEachThatRuns(
    absl::FunctionRef<void(const Instruction&)> fn) const {
  for (const Computation* c : computations_) {
    for (const Instruction* i : c->instructions()) {
      if (position_.Of(*i) >= 0) fn(*i);
    }
  }
}

}  // namespace ptxla::hlo
