// Updates whose planes are too large for VMEM, in parts: their kernel blends a
// plane, or equal parts of one that are whole tiles
// (lowering/movement/update_box.h).
//
//   %r = f32[8192,8192] dynamic-update-slice(%x, f32[8190,8190] %u, 1, 1)
//   ==>
//   %s = dynamic-update-slice(%x, slice(%u), 1, 1)       // 8,160 of its rows
//   %r = dynamic-update-slice(%s, slice(%u), 8161, 1)    // the last 30
//
// Lines are as many parts as VMEM takes.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_UPDATE_PARTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_UPDATE_PARTS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of a dynamic-update-slice of more than `most` bytes a plane, in parts that
// have no more; null: others. Rows are counted without their padding.
Instruction* UpdateInParts(Instruction* update, int64_t most);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_UPDATE_PARTS_H_
