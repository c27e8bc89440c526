// What is computed in front of a product's operand: elementwise work on arrays
// of the operand's shape, on values per row (a softmax's sum) and per column
// (gamma), on its way from VMEM to the MXUs.
//
// A register is computed where the stream loads it, under the matmuls; an
// operand that a step streams more than once is kept as the MXU takes it, and
// one that several steps use is computed before the first of them.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_PROLOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_PROLOGUE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/lowering/products/computed_operand.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

class OperandPrologue final : public TileFormula, public ComputedOperand {
 public:
  // `value`: the dot's operand inside of the fusion. Unimplemented names what
  // is of another form.
  static absl::StatusOr<std::unique_ptr<OperandPrologue>> Create(
      const hlo::Instruction& fusion, const hlo::Instruction& value);

  // Completes the operand with what it costs.
  void AddTo(ProductOperand* operand, const isa::MachineModel& model);

  // Limits on a step's batch members.
  void Limit(ProductProblem* problem) const { AddShared(problem); }

  // `rows_are_m`: of an LHS its M, or of an RHS its N; else rows are K.
  void AddWindows(const ProductTile& tile, const GridDims& grid, bool is_lhs,
                  bool transposed, int first_space, Tiling* tiling);
  int64_t ScratchBytes() const { return table_bytes_; }
  void SetScratch(int64_t offset) { SetRowTable(offset); }
  // Once per step, before the operand is used.
  absl::Status Start(codegen::CodeBuilder& b);
  // All of the step's values per row, ahead of their use.
  absl::Status MakeAllRows(codegen::CodeBuilder& b);
  // Computes a block of it into scratch, as bf16, or f32 for arrays that take
  // those.
  void EmitBlock(const BlockPlace& to, int64_t batch, int64_t rows,
                 int64_t columns, codegen::CodeBuilder* b);

  std::vector<codegen::Vec> Tiles(int64_t batch, int64_t row,
                                  int64_t lane) override;
  int64_t RowsKey(int64_t batch, int64_t row) const override;
  bool MakeRows(int64_t batch, int64_t row) override;
  int64_t rows_lead() const override { return rows_lead_; }
  void BeginRows(codegen::Sca index, int64_t rows) override;
  void EndRows() override;
  void Forget() override;
  int live_registers() const override { return live_registers_; }
  int64_t lead() const override { return lead_; }
  const absl::Status& status() const { return status_; }

 protected:
  // Those of one tile: of several they would fill the registers.
  bool KeepsColumns() const override {
    return e_.space.sizes.back() <= isa::kLanes;
  }
  bool GoesDownColumns() const override { return true; }

 private:
  explicit OperandPrologue(Expression e) : TileFormula(std::move(e)) {}

  int live_registers_ = 4;
  int64_t lead_ = 0, rows_lead_ = 0;
  // The table holds all of the step's values per row; else those of the rows
  // that have been made since Forget().
  bool filled_ = false;
  absl::flat_hash_set<int64_t> made_;
  int64_t table_bytes_ = 0;
  int64_t batch_at_ = -1, row_at_ = -1;  // of the rows kept in registers
  // Where rows begin outside of the loop that counts them.
  struct Begin {
    std::vector<codegen::Sca> leaves;
    codegen::Sca table;
    codegen::Vec numbers;
  };
  Begin outside_;
  absl::Status status_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_PROLOGUE_H_
