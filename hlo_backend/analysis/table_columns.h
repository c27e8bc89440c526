// Gathers and scatters of single columns by number: rows of a table that lies
// turned.
//
//   f32[32,2048] gather(f32[32,4000000] table, s32[2048] columns),
//     offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1},
//     index_vector_dim=1, slice_sizes={32,1}
//   f32[32,4000000] scatter(table, s32[2048] columns, f32[32,2048] updates),
//     update_window_dims={0}, inserted_window_dims={1},
//     scatter_dims_to_operand_dims={1}, index_vector_dim=1
//
// An embedding of 32 numbers would fill a quarter of its lanes, so the runtime
// keeps it as 32 rows (CompactTpuLayout). Turning it for every lookup costs its
// bytes four times over.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_TABLE_COLUMNS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_TABLE_COLUMNS_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

bool GathersColumns(const Instruction& gather);
// Of words.
bool ScattersColumns(const Instruction& scatter);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_TABLE_COLUMNS_H_
