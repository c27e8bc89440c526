// Bits of narrow numbers as other narrow numbers of the same width, in vector
// code, where registers hold f32 and words: f16 and floats of 8 bits get their
// bits by the conversions that a store has, and values by those of a load. A
// NaN's payload is lost.
//
//   u16[N] bitcast-convert(f16[N] x)    the word of each element's bits
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_NARROW_BITS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_NARROW_BITS_H_

#include <optional>

#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Of two types of 8 or two of 16 bits; nothing: no sequence for one of them.
std::optional<codegen::Vec> EmitNarrowBits(codegen::CodeBuilder& b,
                                           hlo::PrimitiveType from,
                                           hlo::PrimitiveType to,
                                           codegen::Vec x);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_NARROW_BITS_H_
