#include "hlo_backend/passes/layout/transposed.h"

#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {

Instruction* Transposed(Builder* b, Instruction* x,
                        absl::Span<const int64_t> permutation) {
  if (IsIdentityMapping(permutation)) return x;
  if (x->opcode() != Opcode::kTranspose) return b->Transpose(x, permutation);
  const DimVector both = Permuted(x->dimensions(), permutation);
  return IsIdentityMapping(both) ? x->operand(0)
                                 : b->Transpose(x->operand(0), both);
}

}  // namespace ptxla::hlo
