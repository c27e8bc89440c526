#include "hlo_backend/lowering/convolutions/gradient_turns.h"

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/products/lhs_transpose.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;

absl::StatusOr<std::unique_ptr<GradientTurns>> GradientTurns::Create(
    const KernelContext& context, const hlo::Instruction& fusion,
    const ConvolutionForm& form, const GradientSteps& steps) {
  auto turns = absl::WrapUnique(new GradientTurns(context, form, steps));
  const hlo::Instruction* value = form.product.lhs_value;
  if (value == nullptr) return turns;
  ASSIGN_OR_RETURN(turns->values_, OperandPrologue::Create(fusion, *value));
  turns->values_->AddTo(&turns->cost_, context.model);
  if (turns->cost_.row_entries > 0) {
    return absl::UnimplementedError(
        absl::StrCat("%", form.convolution->name(),
                     ": values per member of a contracted batch"));
  }
  return turns;
}

int64_t GradientTurns::ComputedRows(const GradientStep& step) const {
  return RoundUpTo<int64_t>(steps_.KOf(step), 16);
}

bool GradientTurns::CanTake(const GradientStep& step) const {
  const ProductTile& t = step.tile;
  if (!steps_.CanReadInPlace(step)) return false;
  if (values_ == nullptr) return true;
  return step.second.grid() == 1 && step.inner == 1 &&
         (t.grid_k == 1 || steps_.KOf(step) % 16 == 0) &&
         (t.grid_m == 1 || t.block_m % cost_.column_unit == 0);
}

int64_t GradientTurns::Cycles(const GradientStep& step) const {
  const int64_t cycles = steps_.Cycles(step);
  if (values_ == nullptr) return cycles;
  const int64_t registers = ComputedRows(step) / isa::kSublanes *
                            CeilOfRatio<int64_t>(step.tile.block_m, 128);
  // The operations, and the rounding.
  return cycles +
         CeilOfRatio<int64_t>(registers * (cost_.operations + 1),
                              context_.model.Slots(isa::Slot::kVector));
}

void GradientTurns::AddWindows(const GradientStep& step, const GridDims& grid,
                               int first_space, Tiling* tiling) {
  step_ = step;
  if (values_ == nullptr) {
    window_number_ = AddGradientKernelWindow(form_, steps_.BlockOf(step),
                                             step.tile, grid, tiling);
    window_ = tiling->windows[window_number_];
    return;
  }
  ProductTile rows_of_k = step.tile;
  rows_of_k.block_k = ComputedRows(step);
  values_->AddWindows(rows_of_k, grid, true, true, first_space, tiling);
}

absl::StatusOr<BlockPlace> GradientTurns::Turn(int space, int64_t offset,
                                               const RowPadding& padding,
                                               CodeBuilder& b) {
  BlockPlace from;
  int64_t rows = step_.tile.block_k;
  if (values_ == nullptr) {
    from = PlaceOf(form_.product.lhs, window_, window_number_,
                   ConvolutionOperands::kWeights, &b);
  } else {
    RETURN_IF_ERROR(values_->Start(b));
    from.computed = values_.get();
    rows = ComputedRows(step_);
  }
  const bool bf16 = steps_.arrays().bf16;
  BlockPlace to;
  to.base = b.GlobalSca();
  b.ScratchAddress(to.base, static_cast<int32_t>(offset));
  b.SetBank(to.base, CodeBuilder::kAbsoluteBanks, static_cast<int32_t>(offset));
  to.space = space;
  to.type = bf16 ? hlo::PrimitiveType::kBf16 : hlo::PrimitiveType::kF32;
  to.lane_pitch = 8 * 128 * (bf16 ? 2 : 4);
  to.row_pitch = step_.tile.block_k / 128 * to.lane_pitch;
  EmitLhsTranspose(from, to, 1, RoundUpTo<int64_t>(step_.tile.block_m, 16),
                   rows, padding, &b);
  if (values_ != nullptr) RETURN_IF_ERROR(values_->status());
  return to;
}

}  // namespace ptxla::lowering
