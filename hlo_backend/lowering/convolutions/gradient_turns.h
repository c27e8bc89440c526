// The kernel of a gradient of weights, the rows of its product: a step's block
// is turned by the XLU, from memory, or computed on the way there
// (products/operand_prologue.h: a normalisation's gradient, a mask). Rows of K
// must then follow one another in what they are made of, which whole tiles of
// the batch do.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_TURNS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_TURNS_H_

#include <cstdint>
#include <memory>

#include "hlo_backend/lowering/convolutions/gradient_steps.h"
#include "hlo_backend/lowering/products/operand_prologue.h"
#include "hlo_backend/lowering/products/row_padding.h"

namespace ptxla::lowering {

class GradientTurns {
 public:
  // All must outlive it. Unimplemented names what is computed in another form.
  static absl::StatusOr<std::unique_ptr<GradientTurns>> Create(
      const KernelContext& context, const hlo::Instruction& fusion,
      const ConvolutionForm& form, const GradientSteps& steps);

  bool CanTake(const GradientStep& step) const;
  // Of a step's body, with what is computed.
  int64_t Cycles(const GradientStep& step) const;
  void AddWindows(const GradientStep& step, const GridDims& grid,
                  int first_space, Tiling* tiling);
  // The block of the step that has these windows, turned: to byte `offset` of
  // the scratch, which codegen knows as `space`. `padding`: of its planes.
  absl::StatusOr<BlockPlace> Turn(int space, int64_t offset,
                                  const RowPadding& padding,
                                  codegen::CodeBuilder& b);

 private:
  GradientTurns(const KernelContext& context, const ConvolutionForm& form,
                const GradientSteps& steps)
      : context_(context), form_(form), steps_(steps) {}
  int64_t ComputedRows(const GradientStep& step) const;

  const KernelContext& context_;
  const ConvolutionForm& form_;
  const GradientSteps& steps_;
  std::unique_ptr<OperandPrologue> values_;  // null: they are loaded
  ProductOperand cost_;                      // of the values
  GradientStep step_;
  isa::Window window_;  // of what is loaded
  int window_number_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_TURNS_H_
