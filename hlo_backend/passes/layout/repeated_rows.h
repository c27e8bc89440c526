// Repeated columns whose array lies with them in rows or planes: rows are
// repeated there, and what comes into the lanes comes behind.
//
//   reshape(broadcast(transpose(y[31,4096], {1,0}), [4096,3,31]), [4096,93])
//   ==>  transpose(reshape(broadcast(y, [3,31,4096]), [93,4096]), {1,0})
//
// As the TPU compiler lays such a broadcast out (a tile, a repeat): its layout
// is its operand's.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_REPEATED_ROWS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_REPEATED_ROWS_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of `y`: transpose(reshape(broadcast(y, sizes, at), dims), order).
struct RepeatedRows {
  DimVector sizes, at;  // of the broadcast
  DimVector dims;       // of the reshape
  DimVector order;      // of the transpose behind it
};

// None if `reshape` is no such reshape of a broadcast, which nobody else reads,
// of a transpose.
std::optional<RepeatedRows> RepeatRows(const Instruction& reshape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_REPEATED_ROWS_H_
