// Loads rows of an operand into registers that an MXU takes, with what lies
// beyond K replaced by zero (memory beyond an array's edge may hold NaN).
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_LOADER_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_LOADER_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/operand_rows.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class OperandLoader {
 public:
  // Makes the masks of a ragged K, as globals; in a block of their own.
  OperandLoader(const ArrayShape& arrays, int64_t k_extent,
                codegen::CodeBuilder* b,
                hlo::PrimitiveType lhs = hlo::PrimitiveType::kBf16,
                hlo::PrimitiveType rhs = hlo::PrimitiveType::kBf16);

  // The arrays' unit of rows from `row` on (16 or 32) at the 128 lanes from
  // `lane`: one packed register, or two of f32 for arrays that take those.
  // `k`: first K of the lanes (k_on_lanes) or of the rows. `part`: of f32
  // values (product_numbers.h).
  std::vector<codegen::Vec> Load(const BlockPlace& place, int64_t batch,
                                 int64_t row, int64_t lane, int64_t k,
                                 bool k_on_lanes, int part = 0);

 private:
  bool RaggedLanes(int64_t k) const { return k + 128 > k_extent_; }
  bool RaggedRows(int64_t k) const { return k + arrays_.unit > k_extent_; }

  ArrayShape arrays_;
  OperandRows rows_;
  int64_t k_extent_;
  codegen::CodeBuilder* b_;
  codegen::Vec lane_mask_;
  std::vector<codegen::Vec> row_masks_;  // one, or one per f32 register
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_LOADER_H_
