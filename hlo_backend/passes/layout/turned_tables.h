// Lookups in a table that lies turned, for transpose_mover.h: a large one stays
// so, as columns (analysis/table_columns.h).
//
//   gather(f32[4000000,32] transpose(f32[32,4000000] %x), %rows)
//   ==> transpose(f32[32,2048] gather(%x, %rows))
//
// So is a lookup in points of several dimensions that are numbered, where their
// numbers lie outside: pixels of f32[16,224,224,3] as [802816,3].
//
// Large: rows would take more than `policy.turned_table_ratio` times the bytes,
// and `policy.turned_table_bytes` more. One that is made in either order (the
// zeros that a gradient is added to) needs no ratio.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_TABLES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_TABLES_H_

#include "hlo_backend/passes/layout/moving_transposes.h"

namespace ptxla::hlo {

// A gather of rows of a table whose transpose moves, or a scatter into one, or
// into free work: of columns, and its transpose, which moves on. Null: others.
Instruction* OfTurnedTable(Builder* b, MovingTransposes* moving, Instruction* i,
                           int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_TABLES_H_
