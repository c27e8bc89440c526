// Gathers of whole planes by number: what each index names lies in one piece,
// in the table and in the result (the weights of the experts that tokens go
// to).
//
//   bf16[256,512,128] gather(bf16[4,512,128] table, s32[256] rows),
//     offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0},
//     index_vector_dim=1, slice_sizes={1,512,128}
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PLANE_GATHER_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PLANE_GATHER_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Of two dimensions or more, with row numbers in one dimension (or in a column
// of them).
bool GathersPlanes(const Instruction& gather);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PLANE_GATHER_H_
