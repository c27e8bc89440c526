// f16 is no type of the MXU: here an operand's block in VMEM becomes bf16 in
// scratch before the stream begins, by the conversions of
// fusion/f16_conversion.h. For blocks that several steps use or that are
// transposed first; others are converted in the stream.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_F16_OPERAND_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_F16_OPERAND_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Of [batch, rows, columns], counted in elements. `to` has whole tiles of
// bf16, an even number of them down.
void EmitF16Operand(const BlockPlace& from, const BlockPlace& to, int64_t batch,
                    int64_t rows, int64_t columns, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_F16_OPERAND_H_
