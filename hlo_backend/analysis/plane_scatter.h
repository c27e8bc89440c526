// Scatters of whole planes by number: what each index names lies in one piece,
// in the table and in the updates (the gradients of experts' weights).
//
//   bf16[4,512,128] scatter(bf16[4,512,128] table, s32[256] rows,
//                           bf16[256,512,128] updates),
//     update_window_dims={1,2}, inserted_window_dims={0},
//     scatter_dims_to_operand_dims={0}, index_vector_dim=1
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PLANE_SCATTER_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PLANE_SCATTER_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Of two dimensions or more in whole registers, words or bf16, with row numbers
// in one dimension (or in a column of them); of a table of which a part of each
// plane can be in VMEM at once.
bool ScattersPlanes(const Instruction& scatter);

// Planes that updates replace as they lie (analysis/whole_planes.h): a DMA
// each, into any table (keys and values into the caches of a decoder).
bool ReplacesPlanes(const Instruction& scatter);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PLANE_SCATTER_H_
