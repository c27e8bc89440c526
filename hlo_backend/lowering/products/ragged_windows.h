// What a step of a grouped product has before it: windows that follow the
// tables of groups and row tiles, and the rows that are the group's.
//
//   ASSIGN_OR_RETURN(RaggedWindows w, AddRaggedWindows(i, call, views, plan,
//                                                      &tiling));
//   const RaggedRows rows = ReadRaggedRows(call, plan, w, &b);   // in the body
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_WINDOWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/ragged_tiling.h"

namespace ptxla::lowering {

struct RaggedViews {
  MatrixView lhs, rhs, out;
};

struct RaggedWindows {
  int lhs = 0, rhs = 0, words = 0, out = 0;  // numbers of `all`
  RowIndex index;                            // how words are read
  std::vector<isa::Window> all;
};
// Unimplemented: words of another type than 32 bits.
absl::StatusOr<RaggedWindows> AddRaggedWindows(const hlo::Instruction& i,
                                               const hlo::RaggedCall& call,
                                               const RaggedViews& views,
                                               const RaggedTiling& plan,
                                               Tiling* tiling);

// Which rows, or elements of K, of the step's block are the group's; and of a
// block of the result in bit 0, whether the step is its first (grouped).
struct RaggedRows {
  codegen::Sca low, high, first;
};
RaggedRows ReadRaggedRows(const hlo::RaggedCall& call, const RaggedTiling& plan,
                          const RaggedWindows& windows,
                          codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_WINDOWS_H_
