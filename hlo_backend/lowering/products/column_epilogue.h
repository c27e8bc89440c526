// The epilogue of a product that also reduces the columns of its result, or of
// what is made of it there: statistics of a batch normalisation and their
// gradients, the gradient of a bias, the maxima of a pooling. The result need
// not be stored for it. ("Sums" below are what any of these operations makes.)
//
// Each pair of finished tiles is added, element by element, to a register of
// scratch for its columns. What the steps of the grid add stays there; the last
// one folds the 8 sublanes and writes the sums. Rows beyond the array, in the
// last steps, count as the identity.
//
// Each of two cores that share the steps has sums of its own, which it sends to
// the other one in the end: both write the sums of both.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/peer_parts.h"
#include "hlo_backend/lowering/products/column_results.h"
#include "hlo_backend/lowering/products/fusion_epilogue.h"

namespace ptxla::lowering {

class ColumnEpilogue final : public FusionEpilogue {
 public:
  // Are all reduces of the fusion such sums?
  static bool Takes(const hlo::Instruction& fusion);
  // Unimplemented: a product with a batch, or one that is computed transposed.
  static absl::StatusOr<std::unique_ptr<FusionEpilogue>> Create(
      const hlo::Instruction& fusion, const ProductForm& form);

  void AddTo(ProductProblem* problem, const isa::MachineModel& model) override;
  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_space, Tiling* tiling) override;
  int64_t ScratchBytes(const ProductTile& tile) const override;
  void SetScratch(int64_t offset) override;
  int ordered_space() const override { return scratch_space_; }
  absl::Status Start(codegen::CodeBuilder& b) override;
  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<codegen::Vec>& tiles) override;
  absl::Status Finish(codegen::CodeBuilder& b) override;

 private:
  // Tiles of 8 rows along one dimension of the grid.
  struct Axis {
    int64_t block = 1, extent = 1, steps = 1;
    int grid_dim = -1;
    codegen::Mask inside;  // set but in the last step; invalid: all fit
  };

  explicit ColumnEpilogue(Expression e) : FusionEpilogue(std::move(e)) {}

  // Registers that the sums of one column tile take turns in: each waits for
  // its own last addition only.
  int64_t Turns() const;
  int64_t ColumnTiles() const;
  // Where the sums of a column tile begin.
  int64_t SumOffset(int64_t tile) const;
  // `words` of a tile of the step, the identity where the array has no rows;
  // invalid: it has none in any step.
  codegen::Vec InArray(const Reduction& r, int64_t tile, codegen::Vec words);
  absl::Status Add(const Position& at);
  // Opens code for the first (last) step of the core alone; how many levels.
  int BeginWhen(isa::When::Kind kind, codegen::CodeBuilder& b) const;
  absl::Status WriteSums(codegen::CodeBuilder& b);

  std::vector<ColumnResult> sums_;
  std::vector<Axis> axes_;  // outer to inner
  // Rows of a plane: tiles, and what the last one of them has (0: all 8).
  int64_t rows_ = 0, plane_tiles_ = 1, rest_ = 0;
  int64_t columns_ = 0;
  int64_t tiles_ = 1;  // of a step
  int64_t table_bytes_ = 0, sums_offset_ = 0, scratch_offset_ = 0;
  int scratch_space_ = -1;
  bool exchanges_ = false;  // where cores share the grid
  int shared_dim_ = -1;     // of the grid, where each core has sums; else -1
  PeerParts peer_;
  codegen::Sca step_sums_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COLUMN_EPILOGUE_H_
