// The epilogue of a product with a batch whose columns are finished in its
// kernel: reduces over the rows of each member, and elementwise work that reads
// their results again (a softmax of scores that lie keys first).
//
//   s = f32[8,4,1024,512] dot(k, q)
//   e = exponential(s - broadcast(reduce(s, max over rows)))   // stored
//   t = f32[8,4,512] reduce(e, sum over rows)                  // stored
//
// As row_epilogue.h, with rows and columns changed: a step holds all rows of
// its columns, the stream leaves them in scratch as f32, and the vector units
// pass over 128 columns of a member once for each stage, 16 rows at a time.
// What columns reduce to is a register for each 128 of them; the stages of
// neighbouring columns interleave, so that folding the sublanes is hidden.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_STAGES_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_STAGES_EPILOGUE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hlo_backend/lowering/products/member_column_epilogue.h"
#include "hlo_backend/lowering/products/row_schedule.h"
#include "hlo_backend/lowering/products/row_stages.h"

namespace ptxla::lowering {

class ColumnStagesEpilogue final : public MemberColumnEpilogue {
 public:
  // `e`: of the fusion, with several stages.
  static absl::StatusOr<std::unique_ptr<FusionEpilogue>> Create(
      const hlo::Instruction& fusion, const ProductForm& form, Expression e);

  void AddTo(ProductProblem* problem, const isa::MachineModel& model) override;
  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_space, Tiling* tiling) override;
  int64_t ScratchBytes(const ProductTile& tile) const override;
  void SetScratch(int64_t offset) override {
    FusionEpilogue::SetScratch(offset);
    scratch_offset_ = offset;
  }
  absl::Status Start(codegen::CodeBuilder& b) override;
  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<codegen::Vec>& tiles) override;
  absl::Status Finish(codegen::CodeBuilder& b) override;

 private:
  ColumnStagesEpilogue(Expression e, RowStages stages)
      : MemberColumnEpilogue(std::move(e)), stages_(std::move(stages)) {}

  Value Known(int node, int tile, const Position& at) override;

  // In scratch: the tile of a plane; what 128 columns reduce to.
  int32_t TileOffset(int plane, const Position& at) const;
  int32_t ColumnOffset(int reduction, int64_t batch, int64_t col) const;
  absl::Status Keep(int node, const Position& at);
  absl::Status StoreRoots(int stage, const Position& at);

  // One pass over 128 columns of a member.
  absl::Status Pass(int stage, int64_t batch, int64_t col);
  absl::Status PassTiles(int stage, const Position& at,
                         std::vector<std::array<codegen::Vec, 2>>* sums);
  // What they reduced to, as results.
  absl::Status WriteResults(int64_t batch, int64_t col);

  RowStages stages_;
  int64_t rows_of_block_ = 0, column_tiles_ = 0, batch_ = 0;  // of a block
  int64_t scratch_offset_ = 0, table_bytes_ = 0;
  int scratch_space_ = 0;
  codegen::Sca scratch_;
  int stage_ = -1;          // of the pass; -1: in the stream
  double unit_cycles_ = 1;  // of all passes for one register
  std::optional<RowSchedule> schedule_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_STAGES_EPILOGUE_H_
