// Windows that cover a whole dimension wherever they begin, as the reduces that
// they are: TPU compilers write a reduce and the broadcast of its result so.
//
//   %w = f32[8,512] reduce-window(%x, %zero), window={size=1x1023
//        pad=0_0x511_511}, to_apply=%add
//   ==> broadcast(f32[8] reduce(%x, %zero), dimensions={1}), dimensions={0}
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_WHOLE_WINDOWS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_WHOLE_WINDOWS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Puts them in the place of a reduce-window of one array; the reduce gets the
// tiles of its shape. False: it is another window.
bool ReplaceByReduce(Instruction* window, int chip_generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_WHOLE_WINDOWS_H_
