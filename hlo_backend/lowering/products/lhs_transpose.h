// Brings an LHS block that lies as [K, M] into the form that MXUs stream, [M,
// K] with K on the lanes: 128 x 128 at a time through the XLUs, into scratch.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_LHS_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_LHS_TRANSPOSE_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/row_padding.h"

namespace ptxla::lowering {

// Tiles of 128 x 128 that each XLU takes in one block of code.
inline constexpr int64_t kTransposesPerUnit = 4;

// `to` is of bf16 or f32. What lies beyond the edges
// of the array comes along; the stream masks K. Of what is computed on its way
// (`from.computed`), rows from `k` on are zero. `padding`: rows within K that
// do not exist.
void EmitLhsTranspose(const BlockPlace& from, const BlockPlace& to,
                      int64_t batch, int64_t m, int64_t k,
                      const RowPadding& padding, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_LHS_TRANSPOSE_H_
