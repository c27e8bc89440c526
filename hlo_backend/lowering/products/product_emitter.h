// Makes the kernel of one product: a dot, alone or as the heart of an output
// fusion. Or the part of a kernel, where another product goes on with the rows
// that this one leaves in VMEM (product_chain.h).
//
//   ProductEmitter emitter(context, instruction, form, pace);
//   RETURN_IF_ERROR(emitter.Prepare());
//   RETURN_IF_ERROR(emitter.ChooseTiles(0));
//   ASSIGN_OR_RETURN(Tiling tiling, emitter.Plan());  // refers to the emitter
//   ASSIGN_OR_RETURN(isa::Kernel kernel, FrameKernel(context, tiling));
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EMITTER_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EMITTER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/peer_parts.h"
#include "hlo_backend/lowering/products/operand_prologue.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// What steps of a product may take on this chip.
ProductLimits ProductLimitsOf(const KernelContext& context);

using TileChoice = std::pair<ProductTile, ProductCost>;

class ProductEmitter {
 public:
  ProductEmitter(const KernelContext& context, const hlo::Instruction& i,
                 ProductForm form, const EpiloguePace& pace)
      : context_(context), i_(i), form_(std::move(form)) {
    parts_.pace = pace;
  }
  // Code refers to it.
  ProductEmitter(const ProductEmitter&) = delete;
  ProductEmitter& operator=(const ProductEmitter&) = delete;

  // Completes the problem with what its operands and its results cost.
  absl::Status Prepare();
  const ProductForm& form() const { return form_; }
  const ArrayShape& arrays() const { return arrays_; }

  // The best tiles (`choice` 0) or a runner-up: the windows of a schedule that
  // was read, then our own. ResourceExhausted: there are not so many.
  absl::Status ChooseTiles(size_t choice);
  // After it: are the windows those of the schedule?
  bool HasGivenWindows() const { return given_; }
  // Tiles that somebody else chose.
  void Take(const ProductTile& tile, const ProductCost& cost);
  // What `choice` chooses from, with cycles that no kernel takes less than. The
  // windows of a schedule are taken whatever they take: 0.
  absl::StatusOr<std::vector<TileChoice>> Choices();
  const ProductTile& tile() const { return tile_; }
  // Windows, scratch and code of the tile.
  absl::StatusOr<Tiling> Plan();

  // Is a step's code the same with other tiles, which perhaps walk the grid in
  // another order?
  bool HasStepOf(const ProductTile& other) const;

  // Cycles of a step that the choice of tiles went by; of the kernel if its
  // steps take `step`.
  int64_t ExpectedStep() const { return cost_.step_bundles; }
  int64_t CyclesOf(int64_t step) const;
  // After the code: do so few epilogues run at once that each waits for its own
  // results?
  bool HasLongEpilogue() const { return long_epilogue_; }

 private:
  absl::Status DescribePrologues();
  absl::StatusOr<ProductTiling> FindTiles(size_t choice);
  void PlanMemory(Tiling* tiling);
  isa::KernelWork WorkOf(const Tiling& tiling) const;

  absl::Status Body(codegen::CodeBuilder& b);
  // The code of the first, the last and the other steps along K.
  absl::Status StepsOfK(codegen::CodeBuilder& b, int dim, int64_t steps);
  // The same where each of two cores has its own steps along K.
  absl::Status StepsOfSharedK(codegen::CodeBuilder& b);
  absl::Status FinishShared(codegen::CodeBuilder& b);
  // Several steps in each plane of K, the last of which may be shorter.
  absl::Status StepsOfPlanes(codegen::CodeBuilder& b);
  absl::Status StreamWhen(
      codegen::CodeBuilder& b,
      const std::vector<std::pair<int, isa::When::Kind>>& when, bool starts,
      bool finishes, bool ends_k);
  absl::Status Stream(codegen::CodeBuilder& b, bool starts, bool finishes,
                      bool ends_k = true);
  // Once per LHS block, not once per step.
  absl::Status StreamTurning(codegen::CodeBuilder& b);

  // A block that several steps use is converted before the first of them; any
  // other in the stream, under its matmuls.
  void PrepareLhs(codegen::CodeBuilder& b);
  void ConvertRhs(codegen::CodeBuilder& b);
  // K moves to the lanes in the stream (stream_transposes.h).
  void TurnLhs(codegen::CodeBuilder& b);
  void Convert(const BlockPlace& from, const BlockPlace& to, int64_t rows,
               int64_t columns, OperandPrologue* prologue,
               codegen::CodeBuilder& b);
  // As the MXU takes it, in scratch: `rows` x `columns`.
  BlockPlace Scratch(codegen::CodeBuilder& b, int space, int64_t offset,
                     int64_t rows, int64_t columns) const;

  int64_t KOfStep(bool last) const;
  bool Accumulates() const;
  bool SlowLhs() const { return form_.problem.lhs.slow; }
  bool SlowRhs() const { return form_.problem.rhs.slow; }
  // f32 values that further passes split stay f32 when they are transposed.
  bool TransposesF32() const {
    return !arrays_.bf16 || form_.problem.passes.size() > 1;
  }
  int64_t MxuBytes() const { return arrays_.bf16 ? 2 : 4; }
  int64_t PaddedRows() const;
  // A core that starts in the middle of N has no first column block.
  bool CoresShare(int dim) const {
    return context_.model.cores > 1 && grid_.megacore_dim == dim;
  }
  bool SharesK() const { return CoresShare(grid_.k); }
  bool StaysWhileNWalks() const {
    return tile_.n_inner && tile_.grid_k == 1 && tile_.grid_n > 1 &&
           !CoresShare(grid_.n);
  }
  bool StaysWhileMWalks() const {
    return !tile_.n_inner && tile_.grid_k == 1 && tile_.grid_m > 1 &&
           !CoresShare(grid_.m);
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  ProductForm form_;
  ArrayShape arrays_;
  ProductTile tile_;
  ProductCost cost_;
  ProductLimits limits_;
  GridDims grid_;
  StreamParts parts_;
  int lhs_window_ = 0, rhs_window_ = 0;
  std::vector<isa::Window> windows_;
  int64_t transposed_offset_ = 0;
  int64_t converted_lhs_offset_ = 0, converted_rhs_offset_ = 0;
  std::unique_ptr<OperandPrologue> lhs_prologue_, rhs_prologue_;
  std::unique_ptr<ProductEpilogue> epilogue_;
  PeerParts peer_;  // where cores share K
  bool long_epilogue_ = false, given_ = false;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EMITTER_H_
