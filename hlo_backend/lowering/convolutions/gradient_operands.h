// Operands of a gradient of weights for the stream of its product: each plane
// of the result is a batch member. All share the LHS, the transposed kernel;
// the weights of a member are the planes of the input that it meets.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_OPERANDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_OPERANDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/row_padding.h"

namespace ptxla::lowering {

// The grid dimension of the batch or of the second axis's taps or outputs,
// where a step takes part of one of them: behind those of GridDims.
inline constexpr int kGradientSecondGrid = 4;

class GradientOperands : public StreamOperands {
 public:
  // `lhs`: the kernel's block, transposed; `padding`: of the planes. Defines
  // globals, in blocks of their own. `form`, `block` and `padding` must outlive
  // it.
  GradientOperands(const ConvolutionForm& form, const ConvolutionBlock& block,
                   const ConvolutionEdge& edge, const ArrayShape& arrays,
                   const BlockPlace& lhs, const isa::Window& input,
                   int input_number, const RowPadding& padding,
                   codegen::CodeBuilder* b);

  int64_t RowsOfK(int64_t k) const override;
  bool Meets(int64_t batch, int64_t row, int64_t k) const override;
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row, int64_t k) override;
  std::vector<codegen::Vec> Weights(int64_t batch, int64_t row, int64_t col,
                                    int64_t k) override;

 private:
  // Offset of the input's tile of rows that belongs to tile `slice` of K for
  // this plane of the result; -1: none.
  int64_t OffsetOf(int64_t batch, int64_t slice) const;

  const ConvolutionForm& form_;
  const ConvolutionBlock& block_;
  const ConvolutionEdge edge_;
  ArrayShape arrays_;
  codegen::CodeBuilder& b_;
  int64_t k_extent_;
  OperandLoader loader_;
  const RowPadding& padding_;
  BlockPlace lhs_, input_;
  std::vector<int64_t> plane_pitch_;  // by axis
  // Upper and lower half of a packed register.
  std::array<codegen::Vec, 2> half_;
};

// Windows of the kernel and of the input; their numbers.
int AddGradientKernelWindow(const ConvolutionForm& form,
                            const ConvolutionBlock& block,
                            const ProductTile& tile, const GridDims& grid,
                            Tiling* tiling);
int AddGradientInputWindow(const ConvolutionForm& form,
                           const ConvolutionBlock& block,
                           const ProductTile& tile, const GridDims& grid,
                           Tiling* tiling);

absl::StatusOr<isa::Kernel> EmitGradientConvolution(
    const KernelContext& context, const hlo::Instruction& i,
    const ConvolutionForm& form, const EpiloguePace& pace);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_OPERANDS_H_
