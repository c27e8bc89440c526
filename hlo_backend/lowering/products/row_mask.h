// Copies a block of an operand to scratch with only some of its rows: those of
// one group of a grouped product. Other rows become zero, whatever they held.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Where the masks of rows come from.
enum class RowMaskSource {
  // Row numbers along the sublanes, compared with the bounds: a TPU's
  // hand-written grouped kernel.
  kSublanes,
  // A mask of all rows lies along the lanes, as a fused select has it, and each
  // row's bit is broadcast over its sublane: an XLU operation per row.
  kLanes,
};

// Rows [low, high) of the block stay, counted inside of it. `rows` is a
// multiple of 128; bf16 and f32.
void EmitRowMask(const BlockPlace& from, const BlockPlace& to, int64_t rows,
                 int64_t columns, codegen::Sca low, codegen::Sca high,
                 RowMaskSource source, codegen::CodeBuilder* b);

// Sublane numbers, on all lanes.
codegen::Vec SublaneNumbers(codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_MASK_H_
