// What one grid step of a convolution computes, and where its window of the
// input lies.
//
// A step makes a box of outputs: some planes of each axis, some tiles of rows,
// some columns of features. It adds up all taps, or some of those of one axis;
// then the grid's innermost dimension walks over the rest. Outputs and taps of
// an axis are not both cut.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_BLOCK_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_BLOCK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// The cut of one axis.
struct AxisBlock {
  int64_t outputs = 1, taps = 1;  // of a step
  int64_t grid = 1, tap_grid = 1;
  // The weights move with the outputs, one of each a step.
  bool own_tap = false;
  // The input window: of the first step, in planes; may begin before plane 0.
  int64_t origin = 0, planes = 1, advance = 1;

  bool Moves() const { return grid > 1 || tap_grid > 1; }
  // Local plane that local output `o` meets through local tap `t`; -1: none in
  // any step. Planes outside of the input are met, and hold zeros, if the
  // window moves.
  int64_t PlaneOf(const WindowAxis& axis, int64_t o, int64_t t) const;
};

struct ConvolutionBlock {
  std::vector<AxisBlock> axes;
  int64_t row_tiles = 1, row_grid = 1;
  int64_t columns = 128, column_grid = 1;
  bool columns_inner = true;  // the grid walks them inside of planes and rows

  // Tiles of 8 rows of a step's result.
  int64_t Slices() const;
  int64_t Taps() const;
  int64_t TapGrid() const;
  int64_t Steps() const;
  // Pairs of slice and tap that are multiplied; so many slices that follow one
  // another go through the arrays together, where any of them meets something.
  int64_t Meetings(const ConvolutionForm& form, int64_t together) const;
  std::string ToString() const;
};

// The steps that code is written for: where the input lies in VMEM, those at
// the ends of an axis have planes beyond its borders, which are not multiplied.
struct ConvolutionEdge {
  int axis = -1;  // -1: all steps are alike
  bool first = false, last = false;
};

// Whether local plane `plane` of an axis is in the input in these steps.
bool IsInside(const ConvolutionForm& form, const ConvolutionBlock& block,
              const ConvolutionEdge& edge, size_t axis, int64_t plane);
// AxisBlock::PlaneOf, -1 also where that plane is not in the input.
int64_t PlaneAt(const ConvolutionForm& form, const ConvolutionBlock& block,
                const ConvolutionEdge& edge, size_t axis, int64_t o, int64_t t);

// The cut of an axis into `grid` blocks of outputs, or of `tap_grid` of taps.
// Nothing if its windows would not move evenly.
std::optional<AxisBlock> CutAxis(const WindowAxis& axis, int64_t grid,
                                 int64_t tap_grid);

// Of an axis that MeetsOne(): a step has one output and its tap. Gradients have
// no such blocks.
AxisBlock SingleOutputs(const WindowAxis& axis);

// The grid of a block; `box` (GridDims) is that of its results.
struct ConvolutionGrid {
  GridDims dims;
  std::vector<int> axis;      // grid dimensions
  std::vector<int> tap_axis;  // -1: taps not cut
  int rows = -1;
  int taps = -1;  // grid dimension of the taps; -1: not cut

  static ConvolutionGrid Of(const ConvolutionForm& form,
                            const ConvolutionBlock& block);
};

// How a window of the input moves along an axis.
isa::WindowDim InputPlanes(const ConvolutionForm& form,
                           const ConvolutionBlock& block,
                           const ConvolutionGrid& grid, size_t axis);
// The window with dense strides in its slot; its number.
int AddPackedSlot(const MatrixView& view, isa::Window window,
                  const ConvolutionGrid& grid, Tiling* tiling);

// Windows of the input and of the weights; their numbers.
int AddInputWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                   const ConvolutionGrid& grid, Tiling* tiling);
int AddWeightWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const ConvolutionGrid& grid, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_BLOCK_H_
