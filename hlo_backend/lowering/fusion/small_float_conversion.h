// Floats of 8 and 4 bits from and to f32, for chips and formats that have no
// instruction for it: the code is shifted to where f32 has its exponent, and a
// multiplication by a power of two sets the bias right, subnormal numbers
// included. 4 operations on finite numbers, 2 to 4 more for the format's
// infinities and NaN; libtpu 0.0.42.1 takes 7 for e4m3fn (tpu_slots.md, section
// 3). Back it is rounded as an integer: 13 operations and 2 to 6 for what is
// too large, libtpu's 11 (v5e) to 20 (v6e) for e4m3fn.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_SMALL_FLOAT_CONVERSION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_SMALL_FLOAT_CONVERSION_H_

#include <optional>

#include "base/numerics/float_formats.h"
#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Formats of a sign, an exponent and a mantissa in 8 or 4 bits; nothing: no
// such.
std::optional<numerics::FloatFormat> SmallFloatFormatOf(
    hlo::PrimitiveType type);

// `words`: one code per word, sign extended.
codegen::Vec UnpackSmallFloat(codegen::CodeBuilder& b,
                              const numerics::FloatFormat& format,
                              codegen::Vec words);

// f32 rounded to nearest even, one code per word; the bits above it mean
// nothing. Of f8e5m2 in one instruction where the chip has it.
codegen::Vec NarrowToSmallFloat(codegen::CodeBuilder& b,
                                const numerics::FloatFormat& format,
                                codegen::Vec x);

// The nearest number of the format, as f32.
codegen::Vec RoundToSmallFloat(codegen::CodeBuilder& b,
                               const numerics::FloatFormat& format,
                               codegen::Vec x);

// Vector operations of UnpackSmallFloat, of NarrowToSmallFloat.
int UnpackSmallFloatOperations(const numerics::FloatFormat& format);
int NarrowToSmallFloatOperations(const isa::MachineModel& model,
                                 const numerics::FloatFormat& format);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_SMALL_FLOAT_CONVERSION_H_
