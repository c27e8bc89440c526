// Upper words of products, as far as a chip multiplies integers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_MULTIPLY_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_MULTIPLY_H_

#include <array>
#include <utility>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// The upper and the lower word of bits 32 to 95 of x times w[0] 2^64 +
// w[1] 2^32 + w[2], words without sign. x's low 8 bits are 0.
//
// 7 operations from v6e on, about 40 on v5e and v5p, which have the low words
// of products alone, and about 100 before, where products are those of f32
// (libtpu 0.0.42.1: 6, 56, 105).
std::pair<codegen::Vec, codegen::Vec> MultiplyWordBy96(
    codegen::CodeBuilder& b, codegen::Vec x,
    const std::array<codegen::Vec, 3>& w);

// The upper word of the product of two words without sign: 1 operation from v6e
// on, 14 on v5e and v5p, 51 before.
codegen::Vec MultiplyHigh(codegen::CodeBuilder& b, codegen::Vec x,
                          codegen::Vec y);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_WIDE_MULTIPLY_H_
