// In which order the program writes the scores of an attention.
//
// JAX's einsum of queries and keys [batch, sequence, heads, depth] is a product
// of the keys with the queries, whose result is turned: keys first. Others
// multiply queries with keys. Our products are the same, once the transpose is
// gone (simplify_transposed_dot.cc); the TPU compiler's differ: of scores
// written keys first only the maxima are made with the product, of others the
// exponentials and their sums too.
//
// The mark is a frontend attribute of the product, which rewrites hand on.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_ORDER_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

void MarkKeysFirst(Instruction* dot);
bool IsKeysFirst(const Instruction& dot);
// Of a product that stands for another.
void CopyScoreOrder(const Instruction& from, Instruction* to);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCORE_ORDER_H_
