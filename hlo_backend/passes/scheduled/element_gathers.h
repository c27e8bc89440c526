// Gathers of single elements of an array in tiles, as gathers of the words that
// lie there. A kernel takes elements of one row; an array of several dimensions
// would be copied to such a row first, as a whole (the logits of a vocabulary,
// of which a cross entropy wants one a token).
//
//   f32[512] gather(f32[512,256000]{1,0:T(8,128)} %x, s32[512,2] %i), windows
//       of one element
//   ==> gather(f32[131072000]{0:T(1024)} bitcast(%x), places of %i in tiles)
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ELEMENT_GATHERS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ELEMENT_GATHERS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// An array with padding, which a bitcast cannot name, is copied with it first.
// False: it is none, or its array is mostly padding, has other tiles than
// T(8,128), or no layout of its own (a value inside of a fusion).
// `generation` of the chip: tiles of values that come to be (TpuLayout).
bool GatherWords(Instruction* gather, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_ELEMENT_GATHERS_H_
