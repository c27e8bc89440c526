// Reduces of narrow numbers as reduces of 32 bits, rounded once: what the units
// do anyway.
//
//   bf16[8] reduce(bf16[8,128] %x, 0)
//   ==> bf16[8] convert(f32[8] reduce(f32[8,128] convert(%x), 0))
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WIDE_REDUCES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WIDE_REDUCES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// `generation` of the chip: tiles of values that come to be.
void WidenReduces(Computation* c, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_WIDE_REDUCES_H_
