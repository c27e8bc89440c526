// A dot whose operands and result are row-major: its dimensions by their places
// in memory, operands exchanged where the result lies so.
//
//   f32[16,8]{0,1} dot(f32[16,32] %x, f32[32,8] %y)
//   ==> f32[8,16] dot(%y, %x), both by rows
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_DOT_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_DOT_H_

#include "hlo_backend/passes/scheduled/row_major_body.h"

namespace ptxla::hlo {

// The row-major value of a dot of the old body; null: there is none, its
// operands are sparse. `shares`: see MakeRowMajor.
Instruction* RowMajorDot(const Instruction* dot, bool shares,
                         RowMajorBody* body);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ROW_MAJOR_DOT_H_
