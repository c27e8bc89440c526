// Householder reflections of f32[batch, rows, columns] as loops.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HOUSEHOLDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HOUSEHOLDER_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// The loop's elements 1 and 2: R with the reflections' vectors below it (as
// LAPACK's geqrf), and taus [batch, min(rows, columns)].
Instruction* HouseholderQr(Builder* builder, Instruction* a);
// Element 3: Q of such vectors and taus, of the shape of `a`.
Instruction* HouseholderProduct(Builder* builder, Instruction* a,
                                Instruction* taus);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_HOUSEHOLDER_H_
