// What the rows of a product reduce to, as results of its kernel: f32[batch,
// rows], the rows along the lanes.
//
// A step has each row's value on all lanes, 8 rows a register, in scratch
// (row_epilogue.h). 16 of them become one row of 128 results: the lane that is
// a row's own is taken from its sublane.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_RESULTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_RESULTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/physical_array.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {

// The address of the line (row of memory) that a batch member's values begin
// with, in an array f32[batch..., rows] that begins at `from`.
codegen::Sca MemberLine(const PhysicalArray& array, codegen::Sca from,
                        codegen::Sca member, codegen::CodeBuilder& b);
// Whether MemberLine finds every member: it divides by a multiplication.
bool HasMemberLines(const PhysicalArray& array);
// Bytes between rows of 128 values of one member.
int64_t LinePitch(const PhysicalArray& array);

// Guards of a store that both must allow; an invalid one always does.
codegen::Pred Both(codegen::CodeBuilder& b, codegen::Pred x, codegen::Pred y);

class RowResults {
 public:
  // Unimplemented: another form than f32[batch..., rows], row-major.
  absl::Status Add(const hlo::Instruction& reduce, int number, int leaf,
                   int space_rank);
  bool empty() const { return results_.empty(); }
  // VMEM of all of them: they are written when the kernel ends.
  int64_t bytes() const;
  // What cores may share.
  void AddTo(KeptResults* kept) const;

  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_result, int first_space, Tiling* tiling);
  // After the passes of a step. `offset_of(reduction, batch, row)`: where in
  // the scratch at `base` the register of 8 rows lies.
  void Write(int scratch_space, codegen::Sca base,
             const std::function<int32_t(int, int64_t, int64_t)>& offset_of,
             codegen::CodeBuilder& b) const;

 private:
  struct Result {
    int number = 0, leaf = 0;
    PhysicalArray array;
    int window = 0, space = 0;
    isa::Window moves;
  };

  std::vector<Result> results_;
  GridDims grid_;
  ProductTile tile_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_RESULTS_H_
