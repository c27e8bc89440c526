// The epilogue of a product whose rows are finished in its kernel: reduces
// along a row, and elementwise work that reads their results again (a softmax
// of scores).
//
// A step holds whole rows. The stream leaves them in scratch as f32; then the
// vector units pass over them, bands of 16 rows at a time. The passes of
// different stages interleave, each some bands behind the one before it, so
// that the long way through the XLUs (a reduce along lanes) is hidden.
//
// Rows that nothing reads again, but their reduces (the maximum of logits), may
// be longer than a step: each step adds its columns, lane by lane, to what the
// steps before it left in scratch, and the last one reduces along the lanes.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/products/fusion_epilogue.h"
#include "hlo_backend/lowering/products/row_results.h"
#include "hlo_backend/lowering/products/row_schedule.h"
#include "hlo_backend/lowering/products/row_stages.h"

namespace ptxla::lowering {

class RowEpilogue final : public FusionEpilogue {
 public:
  static absl::StatusOr<std::unique_ptr<FusionEpilogue>> Create(
      const KernelContext& context, const hlo::Instruction& fusion);

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
  RowEpilogue(Expression e, RowStages stages)
      : FusionEpilogue(std::move(e)), stages_(std::move(stages)) {}

  Value Known(int node, int tile, const Position& at) override;

  // Tile in scratch of a plane; of the result of a reduce, on all lanes.
  int32_t TileOffset(int plane, int64_t batch, int64_t row, int64_t col) const;
  int32_t RowOffset(int reduction, int64_t batch, int64_t row) const;
  void Keep(int node, const Position& at);

  // Reduces are all that is made of the rows.
  bool OnlyReduces() const;
  bool InTurns() const { return OnlyReduces() && column_steps_ > 1; }
  // Identities, before the first columns of these rows.
  void StartTurns(codegen::CodeBuilder& b);
  // Along the lanes, after the last ones.
  absl::Status FinishTurns(codegen::CodeBuilder& b);
  // Tiles of 8 rows in a step, `emit`(scratch + bytes) for each, by their
  // reduction.
  absl::Status ForRowTiles(codegen::CodeBuilder& b,
                           const std::function<absl::Status(
                               const Reduction&, codegen::Sca, int32_t)>& emit);
  // Identities beyond the array's columns.
  codegen::Vec InArray(const Reduction& r, int64_t col, codegen::Vec words);

  // One pass over a band of 16 rows.
  absl::Status Pass(int stage, int64_t batch, int64_t row);
  absl::Status PassTile(int stage, const Position& at,
                        std::vector<std::array<codegen::Vec, 2>>* sums);

  RowStages stages_;
  RowResults row_results_;
  int64_t lag_ = 0;  // cycles between passes, beyond the XLU's latency
  int64_t rows_of_block_ = 0, column_tiles_ = 0, batch_ = 0;  // of a block
  int64_t columns_ = 0;                                       // of the array
  int64_t scratch_offset_ = 0, table_bytes_ = 0;
  int scratch_space_ = 0;
  codegen::Sca scratch_;
  absl::flat_hash_map<int, codegen::Vec> constants_;
  codegen::Vec lane_columns_;  // of the step's first tile, if some are beyond
  int stage_ = -1;             // of the pass; -1: in the stream
  double unit_cycles_ = 1;     // of all passes for one register
  std::optional<RowSchedule> schedule_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_H_
