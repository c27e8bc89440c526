// What gathers and scatters that become work on rows of a table share
// (gather_canonicalizer.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_ROWS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_ROWS_H_

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {

// The type of 32 bits that holds every value of `type`.
PrimitiveType TypeOf32Bits(PrimitiveType type);
Instruction* As(Builder& b, Instruction* x, PrimitiveType type);

// Arrays of which rows can be made: with elements, real ones, of 32 bits at
// most.
bool HaveRows(const Shape& x, const Shape& indices);

// s32[N], or as JAX and torch_xla write it [N, 1].
bool IsRowIndex(const Shape& indices, int64_t index_vector_dim);
// Its N numbers: along lanes, as the scalar unit reads them; a column of them
// would be a row of memory each.
Instruction* FlatIndices(Builder& b, Instruction* indices);
// The gather or scatter `i` with other indices.
Instruction* WithIndices(Builder& b, const Instruction& i,
                         Instruction* indices);

bool IsOneWindow(const RowIndices& rows);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_CANONICAL_ROWS_H_
