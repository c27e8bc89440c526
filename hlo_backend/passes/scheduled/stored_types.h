// Types that a schedule of the TPU compiler mixes where HLO has one: movements
// and reduces that store numbers in another float type, products of preds; and
// products of floats that no array takes.
//
//   bf16[8,128] pad(f32[6,128] %x, f32[] 0)  ==>  pad(bf16 convert(%x), bf16[]
//   0) f32[256,128] dot(pred[1024,256] %p, ...) ==>  dot(bf16 convert(%p), ...)
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_STORED_TYPES_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_STORED_TYPES_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A movement that stores numbers in another float type.
bool ConvertsToo(const Instruction& i);
// The conversion stands before it; numbers that it pads with are other ones.
void ConvertBefore(Instruction* movement, int generation);

// A reduce whose result has another float type than what it adds up.
bool RoundsResult(const Instruction& reduce);
// The conversion stands behind it.
void ConvertBehind(Instruction* reduce, int generation);

// What the arrays take of preds, counts of positions for example. Whether
// there were any.
bool ConvertPreds(Instruction* product, int generation);
// The same of f16 and floats of 8 bits, which a product converts itself where
// its registers suffice (for f16 that is transposed as well, 32 do not).
bool ConvertSmallFloats(Instruction* product, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_STORED_TYPES_H_
