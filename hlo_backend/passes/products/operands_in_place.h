// Transposes before products that can read their operand where it lies
// (analysis/member_rows.h) become bitcasts: names.
//
//   %t = bf16[4,16,1024,128]{3,2,1,0} transpose(bf16[4,1024,16,128] %keys)
//   ==> bf16[4,16,1024,128]{3,1,2,0} bitcast(%keys)
//
// What is a reshape before is one movement with its transpose, and stays; so
// does what anything but such products reads. Part of layout assignment.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OPERANDS_IN_PLACE_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OPERANDS_IN_PLACE_H_

#include "chips/chip_spec.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool ReadOperandsInPlace(Computation* computation, const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_OPERANDS_IN_PLACE_H_
