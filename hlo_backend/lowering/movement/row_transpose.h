// A transpose that keeps the lanes and makes other elements rows: the rows of
// the result are planes of the operand, and its rows are planes of the result.
//
//   f32[56,56,32,64] transpose(f32[32,56,56,64]), dimensions={1,2,0,3}
//
// Rows that a reshape lays side by side move in the same way (lane_reshape.h).
//
// Eight planes of the operand, a row of each, are one strided load: a register
// of the result. Of 16-bit types, which pack two rows into a word, two loads
// and a few bit operations give two registers. Blocks are boxes of several
// dimensions, so any size fits.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_TRANSPOSE_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// A transpose (a copy to another layout, a reshape) of this form.
bool IsRowTranspose(const hlo::Instruction& i);
// A reshape of this form whose rows fill registers and pack two to a word: that
// many shifts and masks no other kernel does with.
bool JoinsPackedRows(const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitRowTranspose(const KernelContext& context,
                                             const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_TRANSPOSE_H_
