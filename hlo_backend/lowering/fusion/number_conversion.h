// Conversions between numbers of 32 bits in registers: vector_math.h's convert.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_CONVERSION_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_CONVERSION_H_

#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

// As EmitElementwise of a convert; `wraps` as there.
absl::StatusOr<Value> EmitConvert(codegen::CodeBuilder& b,
                                  const hlo::Instruction& i, Value x,
                                  bool wraps);

// The positions of an iota, 0, 1, 2 ..., in its type: integers of few bits
// begin again, floats of 8 bits have few whole numbers. `wraps` as above.
Value EmitIota(codegen::CodeBuilder& b, const hlo::Instruction& iota,
               codegen::Vec positions, bool wraps);

// The lowest 8 bits of the words of `value` (null: of any), rows 0-7 in every
// part of 32 rows: one operation for words that are known to be in the range of
// their type, two for others.
codegen::Vec PackTileToBytes(codegen::CodeBuilder& b,
                             const hlo::Instruction* value, codegen::Vec words);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_NUMBER_CONVERSION_H_
