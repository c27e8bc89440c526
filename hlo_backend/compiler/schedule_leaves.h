// What all plans of memory of one schedule have in common, whatever memory its
// values are put into: the leaves of its instructions, which of them are the
// same memory everywhere, when each runs, and which results may take the places
// of operands.
//
//   const ScheduleLeaves leaves(scheduled, chip);
//   const BufferLives first(leaves);
//   ... values go to HBM ...
//   const BufferLives second(leaves);
#ifndef PTXLA_HLO_BACKEND_COMPILER_SCHEDULE_LEAVES_H_
#define PTXLA_HLO_BACKEND_COMPILER_SCHEDULE_LEAVES_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "chips/chip_spec.h"
#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/compiler/number_of_instruction.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/memory/shared_places.h"

namespace ptxla::hlo {

class ScheduleLeaves {
 public:
  // Of a module with a schedule. Both outlive it; of the module nothing may
  // change but memory spaces of layouts.
  ScheduleLeaves(const Module& module, const chips::ChipSpec& chip);

  const Module& module() const { return module_; }
  const chips::ChipSpec& chip() const { return chip_; }
  const std::vector<Computation*>& computations() const {
    return computations_;
  }
  // Of leaves that lie together in whatever memory.
  const BufferClasses& classes() const { return classes_; }
  // Bytes of an array with its padding, by the number of its leaf; 0: it has no
  // memory.
  int64_t BytesOf(int leaf) const { return bytes_[leaf]; }
  const std::vector<SharedPlace>& shared_places() const { return shared_; }
  // X64Combine and ConcatBitcast, in order.
  const std::vector<const Instruction*>& assembled() const {
    return assembled_;
  }

  // Instructions that the schedule runs, and their places in it.
  void ForEachThatRuns(absl::FunctionRef<void(const Instruction&)> fn) const;
  int32_t PositionOf(const Instruction& i) const { return position_.Of(i); }
  int32_t positions() const { return next_position_; }

 private:
  void Number(const Computation& c);

  const Module& module_;
  const chips::ChipSpec& chip_;
  const std::vector<Computation*> computations_;
  BufferClasses classes_;
  std::vector<int64_t> bytes_;
  std::vector<SharedPlace> shared_;
  std::vector<const Instruction*> assembled_;
  NumberOfInstruction position_;  // in the schedule; none: it does not run
  int32_t next_position_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_SCHEDULE_LEAVES_H_
