// Kernels of grouped products (ir/ragged_call.h).
//
// Grouped, a step takes one row tile and one group: tables in SMEM, which
// scalar code made before, say which, and the windows follow them. By rows, the
// product of the whole tile is stored where its rows are the group's, and the
// first step of a tile clears the others. By groups, the rows of other groups
// are cleared before the product, and a step adds to the group's block.
//
// Dense, every block of rows meets every group, cleared to that group's rows.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_PRODUCT_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_PRODUCT_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// `i` is a RaggedCall.
absl::StatusOr<isa::Kernel> EmitRaggedProduct(const KernelContext& context,
                                              const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_PRODUCT_H_
