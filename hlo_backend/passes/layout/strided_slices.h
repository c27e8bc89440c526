// Slices that step over rows or lanes, as movements that kernels do at any
// size.
//
// Rows that are stepped over stay where a kernel makes whole planes, or equal
// parts of the only one: it loads them at a stride. Others, and lanes, are
// planes that are left out (picked_planes.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_STRIDED_SLICES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_STRIDED_SLICES_H_

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// What the slice becomes; null: it stays.
Instruction* StridedSlice(Instruction* slice, const PassContext& context);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_STRIDED_SLICES_H_
