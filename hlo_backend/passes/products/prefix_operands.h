// Products whose operand is the front of a longer row: they read the whole row
// in place, with zeros for what is behind, instead of a copy of its front. So
// does the TPU compiler with probabilities of attention that has a sink: the
// last column of a softmax, which nobody reads.
//
//   p = bf16[8,8192,1024] convert(slice(f32[8,8192,1025] x, its first columns))
//   d = dot(p, v)   // over 1024 rows of v
//   ==> dot(select(column < 1024, convert(x), 0), pad(v))   // over 1025
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The product that stands for `dot`, which contracts one dimension; null: no
// operand is such a front, or its copy is the smaller part of what is read.
Instruction* WithWholeRows(Instruction* dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PREFIX_OPERANDS_H_
