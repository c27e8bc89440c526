// The elementwise rest of an output fusion, applied to finished sums while they
// are in registers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/result_store.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

class FusionEpilogue : public ProductEpilogue, protected TileFormula {
 public:
  // Unimplemented names the operand or result of another form.
  static absl::StatusOr<std::unique_ptr<FusionEpilogue>> Create(
      const hlo::Instruction& fusion);

  // What it adds to the problem: bytes, operations, row alignment.
  virtual void AddTo(ProductProblem* problem, const isa::MachineModel& model);

  void AddWindows(const ProductTile& tile, const GridDims& grid,
                  int first_space, Tiling* tiling) override;
  absl::Status Start(codegen::CodeBuilder& b) override;
  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<codegen::Vec>& tiles) override;
  void BeginStream() override { BeginBlock(); }
  absl::Status status() const override { return status_; }
  int live_registers() const override { return live_registers_; }
  int64_t ScratchBytes(const ProductTile& tile) const override {
    return RowTableBytes(tile);
  }
  void SetScratch(int64_t offset) override { SetRowTable(offset); }

 protected:
  struct Result {
    int node = 0, leaf = 0;  // leaf: number among the fusion's results
    MatrixView view;
    int window = 0;
    ResultStore store;
  };

  explicit FusionEpilogue(Expression e) : TileFormula(std::move(e)) {}

  absl::Status Describe(const hlo::Instruction& fusion);
  absl::Status Store(const Result& result, const Position& at);

  std::vector<Result> results_;
  int outputs_ = 1;
  int live_registers_ = 3;
  absl::Status status_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_
