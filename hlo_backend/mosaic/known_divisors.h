// Divisions of vectors by a known number, which no compiler leaves as they
// are: renamed to what they become. By a power of two, a shift and a mask; by
// another, a product.
//
//   %d = arith.divsi %rows, %fours      // %fours: 4 everywhere
//   RenameKnownDivisions(&module);      // arith.shrsi
//
// For their cost alone: the second operand stays. Divisions of scalars, which
// are computed (index_math.h), are left.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_KNOWN_DIVISORS_H_
#define PTXLA_HLO_BACKEND_MOSAIC_KNOWN_DIVISORS_H_

#include "hlo_backend/mosaic/kernel_ir.h"

namespace ptxla::mosaic {

void RenameKnownDivisions(Module* module);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_KNOWN_DIVISORS_H_
