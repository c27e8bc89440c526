// The elementwise rest of an output fusion, applied to finished sums while they
// are in registers.
//
// Operands of the formula beside the sums are arrays of the product's own shape
// and layout, or of one batch member's; 1-D arrays along its columns (a bias),
// one for all or one for each of the outermost batch dimension (a mask); and
// scalars. Iotas count rows or columns.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/expression.h"
#include "hlo_backend/lowering/fusion/vector_math.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/result_store.h"

namespace ptxla::lowering {

// The most vector registers alive at once in straight code.
int PeakVectors(const std::vector<codegen::VInstr>& code);
// Those that take a vector slot.
int64_t VectorOperations(const std::vector<codegen::VInstr>& code);

class FusionEpilogue : public ProductEpilogue {
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
  absl::Status status() const override { return status_; }
  int live_registers() const override { return live_registers_; }

 protected:
  enum class Form { kTile, kColumns, kBatchColumns, kScalar };
  struct Leaf {
    int node = 0;
    Form form = Form::kTile;
    MatrixView view;
    int window = 0;
    BlockPlace place;
    codegen::Vec scalar;  // kScalar, as a global
    // kBatchColumns: batch members that share a row.
    int64_t repeat = 1;
    PhysicalArray array;
  };
  struct Result {
    int node = 0;
    MatrixView view;
    int window = 0;
    ResultStore store;
  };

  explicit FusionEpilogue(Expression e) : e_(std::move(e)) {}

  absl::Status Describe(const hlo::Instruction& fusion);
  absl::StatusOr<Leaf> DescribeLeaf(int node) const;
  // Where tile, row and column of the open results are.
  struct Position {
    int64_t batch, row, col;
    const std::vector<codegen::Vec>* sums;
  };
  // A value that need not be computed: kept from an earlier pass over the block
  // (row_epilogue.h). Neither register nor mask valid: compute it.
  virtual Value Known(int /*node*/, int /*tile*/, const Position& /*at*/) {
    return {};
  }
  // Value of a node for one 8 x 128 tile of the sums.
  absl::StatusOr<Value> Eval(int node, int tile, const Position& at);
  absl::StatusOr<Value> EvalOp(const ExprNode& node, int tile,
                               const Position& at);
  // Does it vary along the lanes?
  bool VariesInRow(int node) const {
    return e_.nodes[node].depends >> (e_.space.rank() - 1) & 1;
  }
  // The code of these nodes on one register, to be counted; nothing if one of
  // them cannot be written.
  std::vector<codegen::VInstr> CodeOf(const isa::MachineModel& model,
                                      const std::vector<int>& nodes) const;
  absl::StatusOr<Value> Load(const Leaf& leaf, int tile, const Position& at);
  Value LoadBatchColumns(const Leaf& leaf, const Position& at);
  absl::StatusOr<Value> Iota(const ExprNode& node, int tile,
                             const Position& at);
  // Locals of earlier blocks are gone.
  void StartIotas(codegen::CodeBuilder& b);
  void BeginBlock() { batch_rows_.clear(); }
  absl::Status Store(const Result& result, const Position& at);

  Expression e_;
  std::vector<Leaf> leaves_;
  std::vector<int> leaf_of_node_;
  std::vector<Result> results_;
  std::vector<isa::Window> windows_;
  std::vector<int64_t> grid_;
  int first_space_ = 0;
  int first_window_ = 0;
  int column_grid_ = 0;  // grid dimension, block and bound of the columns
  int64_t column_block_ = 0, column_steps_ = 1;
  int row_grid_ = 0, batch_grid_ = 0;  // the same of rows and batch members
  int64_t row_block_ = 0, batch_block_ = 0;
  codegen::Sca first_member_;  // of the step; invalid: 0
  // Addresses of rows of leaves: (leaf, batch member).
  absl::flat_hash_map<int64_t, codegen::Sca> batch_rows_;
  bool folded_ = false;  // several dimensions make the product's rows
  codegen::Vec row_numbers_, column_numbers_;  // of the step's first tile
  codegen::CodeBuilder* b_ = nullptr;
  std::optional<codegen::NarrowTiles> narrow_;
  // Values of the open group: (node, tile), and packed registers of leaves.
  absl::flat_hash_map<int64_t, Value> values_;
  // Those of whole rows, and inverted divisors: until the rows change.
  absl::flat_hash_map<int64_t, Value> row_values_;
  absl::flat_hash_map<int64_t, codegen::Vec> reciprocals_;
  absl::flat_hash_map<int, codegen::Vec> packed_;
  int live_registers_ = 3;
  absl::Status status_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FUSION_EPILOGUE_H_
