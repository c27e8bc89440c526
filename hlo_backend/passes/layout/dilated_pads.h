// Pads that put padding between rows or lanes, as the gradient of a slice with
// a stride does, one dimension at a time: rows where a kernel moves them
// (stepped_rows.h), else planes, of an array that lies so; lanes as rows.
//
//   f32[4095,4095] pad(f32[2048,2048] x, 0), padding=0_0_1x0_0_1
//   ==> y = transpose(pad(transpose(x), 0)), padding=0_0_1x0_0
//       pad(y, 0), padding=0_0_1x0_0
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_DILATED_PADS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_DILATED_PADS_H_

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// What the pad becomes; null: it stays.
Instruction* DilatedPad(Instruction* pad, const PassContext& context);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_DILATED_PADS_H_
