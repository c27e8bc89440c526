// Whole planes that are cut out of a stack and lose its dimension are rows of
// the stack, taken as one matrix: a loop that reads them begins at another
// address (analysis/vector_loops.h), and loops that read planes of one stack
// can be one kernel.
//
//   %p = f32[1,128,512] slice(f32[4,128,512] %stack), [1:2], whole
//   %x = f32[128,512] bitcast(%p)
//   ==> %m = f32[512,512] bitcast(%stack)
//       %x = f32[128,512] slice(%m), [128:256], whole
//
// Part of layout assignment: rows must be whole tiles.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_PLANE_SLICES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_PLANE_SLICES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool CutPlanesAsRows(Computation* computation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_PLANE_SLICES_H_
