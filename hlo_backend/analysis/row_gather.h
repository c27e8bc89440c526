// Gathers of whole rows of a 2-D array, each by one number: what
// gather-canonicalizer leaves of others.
//
//   f32[8192,256] gather(f32[50000,256] table, s32[8192] rows),
//     offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
//     index_vector_dim=1, slice_sizes={1,256}
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_ROW_GATHER_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_ROW_GATHER_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

bool GathersRows(const Instruction& gather);
// Of words: table[row[n], :] op= updates[n, :].
bool ScattersRows(const Instruction& scatter);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_ROW_GATHER_H_
