// Whether an attention's second product is one of values and weights, [depth,
// queries], instead of weights and values.
//
//   o = bf16[8,12,1024,64] dot(p, v)         // p bf16[8,12,1024,1024]
//   t = bf16[8,1024,12,64] transpose(o)
//   IsValuesFirst(o, chip)                   // true: bf16[8,12,64,1024]
//
// Of weights that lie keys first the first takes them as they are, the second
// turns them. The TPU compiler (libtpu 0.0.42.1) has the first wherever the
// result is moved behind anyway, on chips with arrays of 256 columns only if
// heads leave lanes empty or a projection reads the result.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_VALUES_FIRST_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_VALUES_FIRST_H_

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of weights times values, the result of one member [queries, depth].
bool IsValuesFirst(const Instruction& dot, const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_VALUES_FIRST_H_
