// The epilogue of a product with a batch that also reduces the rows of each
// member: what its columns reduce to are results of the kernel beside others,
// f32[batch..., columns], the columns along the lanes.
//
//   s = f32[8,4,256,512] dot(k, q)                        // stored
//   m = f32[8,4,512] reduce(s * scale, -inf), dimensions={2}, to_apply=max
//
// Finished tiles of 8 rows are combined as they come, element by element, in a
// register for 128 columns of a member; with the last of a step its sublanes
// are folded, and one row of the result is written. Steps that have other rows
// of a member go on with what is written there: results lie in VMEM until the
// kernel ends, and cores share members or columns (core_parts.h). Rows beyond
// the array count as the identity.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_MEMBER_COLUMN_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_MEMBER_COLUMN_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/products/column_results.h"
#include "hlo_backend/lowering/products/fusion_epilogue.h"

namespace ptxla::lowering {

class MemberColumnEpilogue : public FusionEpilogue {
 public:
  // Are all reduces of the fusion such (hlo::IsMemberColumnReduce)?
  static bool Takes(const hlo::Instruction& fusion);
  // Unimplemented: a product that is computed transposed, or a result that is
  // not row-major. Of values that the columns' reduces are read for again it is
  // a ColumnStagesEpilogue.
  static absl::StatusOr<std::unique_ptr<FusionEpilogue>> Create(
      const hlo::Instruction& fusion, const ProductForm& form);

  void AddTo(ProductProblem* problem, const isa::MachineModel& model) override;
  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_space, Tiling* tiling) override;
  absl::Status Start(codegen::CodeBuilder& b) override;
  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<codegen::Vec>& tiles) override;
  absl::Status Finish(codegen::CodeBuilder& b) override;

 protected:
  struct Result : ColumnResult {
    codegen::Sca base;  // of the array in VMEM
  };
  // Of the columns of one member and tile in the results.
  struct Columns {
    codegen::Pred inside;  // of the array; invalid: always
    codegen::Sca first;    // tile of the step, if there are several
  };

  explicit MemberColumnEpilogue(Expression e) : FusionEpilogue(std::move(e)) {}

  absl::Status DescribeColumns(const hlo::Instruction& fusion,
                               const ProductForm& form);

  // `words` of the tile at `row` of the step, the identity where the array has
  // no rows; invalid: it has none in any step.
  codegen::Vec InArray(const Reduction& r, int64_t row, codegen::Vec words);
  // Nothing: no step has such columns.
  std::optional<Columns> ColumnsAt(const Position& at);
  // Where they are in a result.
  codegen::Sca LineAt(const Result& result, const Position& at,
                      const Columns& columns, int64_t* offset);
  void StoreLine(const Result& result, const Columns& columns,
                 codegen::Sca line, int64_t offset, codegen::Vec v);

  std::vector<Result> sums_;
  int64_t rows_ = 0;
  int64_t batch_steps_ = 1;

 private:
  // Of the columns of one member: what has been combined, of how many pairs of
  // tiles.
  struct Partial {
    std::vector<codegen::Vec> values;  // per result
    int64_t pairs = 0;
  };

  absl::Status Add(const Position& at);
  absl::Status Write(const Position& at, const Partial& partial);
  // Address of a member's first columns, less `base`'s where that is known;
  // the rest is the offset.
  codegen::Sca LineOf(const Result& result, int64_t member, int64_t* offset);

  int64_t columns_ = 0, members_ = 1;
  int64_t row_steps_ = 1;
  GridDims grid_dims_;
  codegen::Sca first_row_;       // of the step, if there are several
  codegen::Vec row_of_sublane_;  // in the array, of the first tile
  // By member and column of tiles.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, Partial> partials_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_MEMBER_COLUMN_EPILOGUE_H_
