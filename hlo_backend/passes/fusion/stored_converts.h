// Arrays that are widened for kernels which read memory (a gather of what a
// softmax reads as f32) and for vector work: each gets its own. What is stored
// is read by the first alone, the others widen what is there, of half the
// bytes, as in the TPU compiler (libtpu 0.0.42.1: losses by take_along_axis).
//
//   %w = f32[4096,32000] convert(bf16[4096,32000] %x)
//   gather(%w, ...), reduce(%w), subtract(%w, ...)
//   ==> %v = f32[4096,32000] convert(%x), gather(%v, ...)
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_STORED_CONVERTS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_STORED_CONVERTS_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Before fusion; whether there were any.
bool PartStoredConverts(Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_STORED_CONVERTS_H_
