// f16 is no type of the TPU: chips from v5e on convert it in one instruction,
// earlier ones by sequences of vector operations, with every value right:
// zeros, subnormal numbers, infinities and NaN, nearest even.
//
// The sequences are the textbook's (rebias the exponent as an integer, shift
// subnormals in and out by adding a float): 15 operations to unpack eight rows,
// 18 to round them (17 to f8e5m2, which is the upper byte of an f16) and one to
// pack two results, 49.5 for an add of 1,024 elements. libtpu 0.0.42.1
// takes 50.5 (tpu_slots.md, section 4).
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_F16_CONVERSION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_F16_CONVERSION_H_

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Rows 0-7 (part 0) or 8-15 (part 1) of 16 packed f16 rows, as f32.
codegen::Vec UnpackF16(codegen::CodeBuilder& b, codegen::Vec packed, int part);

// f32 rows 0-7 and 8-15 as 16 packed f16 rows.
codegen::Vec PackF16(codegen::CodeBuilder& b, codegen::Vec low,
                     codegen::Vec high);

// f32 as f16 in the lower halves of words; the upper ones mean nothing. And
// back.
codegen::Vec NarrowToF16(codegen::CodeBuilder& b, codegen::Vec x);
codegen::Vec F16InWords(codegen::CodeBuilder& b, codegen::Vec bits);

// The same of a row that is on all sublanes.
codegen::Vec WidenF16(codegen::CodeBuilder& b, codegen::Vec bits);

// For chips that cannot expand a packed register (codegen/narrow_tiles.h),
// which move f16 as if it were bf16: from and to the upper halves of words.
codegen::Vec WidenUpperF16(codegen::CodeBuilder& b, codegen::Vec upper);
codegen::Vec NarrowToUpperF16(codegen::CodeBuilder& b, codegen::Vec x);

// f32 as f8e5m2 in the low bytes of words.
codegen::Vec NarrowToF8E5M2(codegen::CodeBuilder& b, codegen::Vec x);

// Vector operations per 8 rows: of UnpackF16, of PackF16.
int UnpackF16Operations(const isa::MachineModel& model);
int PackF16Operations(const isa::MachineModel& model);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_F16_CONVERSION_H_
