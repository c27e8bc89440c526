// Where a dynamic-slice or dynamic-update-slice begins along one dimension: a
// scalar that a step reads from SMEM, or a constant. As XLA does, a start
// beyond the last place is the last one; an unsigned one of 2^31 and more is
// beyond, too.
//
//   const StartIndex start = StartIndex::Add(i, 2, &tiling);
//   // in the body:
//   const Sca row = start.Clamped(b, rows - 8);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_START_INDEX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_START_INDEX_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

class StartIndex {
 public:
  StartIndex() = default;  // none: the dimension is whole

  // Adds the window that brings operand `operand` of `i`, s32[] or u32[]; a
  // constant is part of the code.
  static StartIndex Add(const hlo::Instruction& i, int operand, Tiling* tiling);

  bool exists() const { return exists_; }
  // In [0, last].
  codegen::Sca Clamped(codegen::CodeBuilder& b, int64_t last) const;

 private:
  bool exists_ = false;
  int window_ = -1;  // none: it is `number_`
  int64_t number_ = 0;
  bool is_unsigned_ = false;
};

// An unsigned word as a signed one: from 2^31 on the largest there is.
codegen::Sca SaturatedToSigned(codegen::CodeBuilder& b, codegen::Sca word);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_START_INDEX_H_
