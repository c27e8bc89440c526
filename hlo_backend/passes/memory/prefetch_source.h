// Where a value in VMEM was brought from: the array in HBM that a copy, or
// several copies of its parts, took there before a kernel that wants it in
// VMEM. A kernel that can read it in HBM only reads that array.
//
//   PrefetchSource(*copy_done)      // the copy-start's operand, or null
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_SOURCE_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_SOURCE_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Null: `value` was not brought from HBM as it is, or what it was brought from
// may be written before `value` is read (it is updated in place, or the
// program's caller gave it away).
Instruction* PrefetchSource(const Instruction& value);

// May `value` be written before the program ends, by a user, by one of what
// names it, or by the program's caller?
bool IsOverwritten(const Instruction& value);

// The source as `value` names it, through bitcasts, which are added; null as
// above.
Instruction* ReadFromSource(Instruction* value);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_PREFETCH_SOURCE_H_
