// What a reduce or reduce-window of one array starts from (its operand 1).
//
//   reduce(x, 0), to_apply=add     neutral, may repeat
//   reduce(x, 5), to_apply=max     may repeat: max(max(x, 5), 5)
//   reduce(x, 2), to_apply=add     neither
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_START_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_START_H_

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// It leaves every value as it is.
bool StartIsNeutral(const Instruction& reduce);

// The result is the same however often it takes part.
bool StartMayRepeat(const Instruction& reduce);

// What leaves every value of `type` as it is under `op`, a monoid.
Instruction* NeutralStart(Opcode op, PrimitiveType type, Builder& b);

// op(x, y) of scalars, as the body of a reduce.
Computation* MonoidBody(Opcode op, PrimitiveType type, Module* module);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_REDUCE_START_H_
