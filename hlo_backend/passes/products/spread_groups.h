// Products whose planes of rows share the other operand (queries of a group and
// the keys that they share), as products of a batch.
//
//   dot(bf16[2,4,7,1024,64] %q, bf16[2,4,1024,64] %k), lhs_batch_dims={0,1}
// ==>
//   %b = bf16[2,4,7,1024,64] broadcast(%k), dimensions={0,1,3,4}
//   dot(%q, %b), lhs_batch_dims={0,1,2}
//
// So are those whose planes have been joined to rows of one matrix:
//
//   dot(bf16[2,4,7168,1024] reshape(bf16[2,4,7,1024,1024] %p), ...)
//
// The operands may change places then, which a shared one on the left could
// not. No broadcast is stored: a kernel reads the shared matrices as they lie
// (SharedMatrix, analysis/product_batch.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPREAD_GROUPS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPREAD_GROUPS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Has it a batch, and such planes? Not: a result of the program.
bool SharesPlanes(const Instruction& dot);

// The product that computes the same, beside `dot`; its result has the planes
// as dimensions. For what SharesPlanes.
Instruction* SpreadProduct(Instruction* dot);

// That, in the place of `dot`, which is removed.
Instruction* SpreadGroups(Instruction* dot);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SPREAD_GROUPS_H_
