// A ragged-all-to-all of a device with itself: rows that move within it, as a
// gather and a select.
//
//   %r = f32[5,2] ragged-all-to-all(%x, %out, %from, %sizes, %to, %sizes),
//          replica_groups={{0}}
//   ==> row to[e] + k of %r is row from[e] + k of %x for k < sizes[e], of the
//       last such e; other rows are those of %out
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_EXCHANGE_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_EXCHANGE_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// New instructions beside `exchange`, whose groups have one device.
Instruction* RowsMovedWithin(Instruction* exchange);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_EXCHANGE_H_
