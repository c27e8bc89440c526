// Gathers of single elements, each by its index along every dimension of the
// table: what gather-canonicalizer leaves of gathers that are no rows.
//
//   f32[8192] gather(f32[1000000] table, s32[8192] elements),
//     collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
//     slice_sizes={1}
//   bf16[512] gather(bf16[1000,50257] table, s32[2,512] rows_and_columns),
//     collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0,
//     slice_sizes={1,1}
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_ELEMENT_GATHER_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_ELEMENT_GATHER_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Dimensions of a table, at most.
inline constexpr int kMostIndexed = 3;

bool GathersElements(const Instruction& gather);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_ELEMENT_GATHER_H_
