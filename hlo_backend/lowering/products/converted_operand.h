// Operands of types that the MXU does not take and whose conversion is slow:
// here an operand's block in VMEM becomes bf16 in scratch before the stream
// begins. For blocks that several steps use; others are converted in the stream
// (operand_rows.h).
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERTED_OPERAND_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERTED_OPERAND_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Of [batch, rows, columns], counted in elements. `to` has whole tiles of
// bf16, an even number of them down.
void EmitConvertedOperand(const BlockPlace& from, const BlockPlace& to,
                          int64_t batch, int64_t rows, int64_t columns,
                          codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERTED_OPERAND_H_
