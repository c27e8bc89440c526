// Results of a product's kernel that its columns reduce to, as the two
// epilogues that make them have them: sums over all rows (column_epilogue.h),
// and reduces of each member of a batch (member_column_epilogue.h). Each result
// lies in VMEM whole until the kernel ends.
//
//   if (AllReducesAre(fusion, hlo::IsColumnReduce)) ...
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_RESULTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_RESULTS_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/fusion/reduction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {

struct ColumnResult {
  Reduction reduction;
  int node = 0, leaf = 0;  // of the formula: what is reduced; the result
  int window = 0;

  // In VMEM, in whole registers.
  int64_t SlotBytes() const;
  // The window of what a core makes of it; `first_result`: the kernel's first
  // argument that is one.
  void AddWindow(int first_result, const ProductTile& tile,
                 const GridDims& grid, Tiling* tiling);
};

// Are all reduces of an output fusion such, of its product?
bool AllReducesAre(const hlo::Instruction& fusion,
                   bool (*such)(const hlo::Instruction& reduce,
                                const hlo::Instruction& product));

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_RESULTS_H_
