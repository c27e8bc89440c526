#include "hlo_backend/lowering/convolutions/gradient_operands.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

namespace {

int64_t TilesOfK(const ConvolutionBlock& block) {
  return block.Taps() * block.row_tiles;
}

}  // namespace

GradientOperands::GradientOperands(const ConvolutionForm& form,
                                   const ConvolutionBlock& block,
                                   const ConvolutionEdge& edge,
                                   const ArrayShape& arrays,
                                   const BlockPlace& lhs,
                                   const isa::Window& input, int input_number,
                                   const RowPadding& padding, CodeBuilder* b)
    : form_(form),
      block_(block),
      edge_(edge),
      arrays_(arrays),
      b_(*b),
      k_extent_(8 * TilesOfK(block)),
      loader_(arrays, k_extent_, b),
      padding_(padding),
      lhs_(lhs) {
  b->NewBlock("addresses");
  input_ = PlaceOf(form.product.rhs, input, input_number,
                   ConvolutionOperands::kInput, b);
  for (size_t a = 0; a < form.axes.size(); ++a) {
    plane_pitch_.push_back(form.product.rhs.resident
                               ? input.dims[a].hbm_stride
                               : input.dims[a].vmem_stride);
  }
  if (!arrays.bf16) return;
  for (int h = 0; h < 2; ++h) {
    half_[h] = b->GlobalVec();
    const codegen::Mask m = b->Range(0, isa::kLanes, 4 * h, 4 * h + 4);
    b->Move(half_[h], b->SelectImm(m, b->Imm(0xFFFFFFFFu), 0));
  }
}

int64_t GradientOperands::OffsetOf(int64_t batch, int64_t slice) const {
  if (slice >= k_extent_ / 8) return -1;
  batch = form_.PlaneOfResult(batch);
  int64_t offset = slice % block_.row_tiles * input_.row_pitch;
  int64_t tap = slice / block_.row_tiles;
  for (size_t a = form_.axes.size(); a-- > 0;) {
    const AxisBlock& cut = block_.axes[a];
    const int64_t plane =
        PlaneAt(form_, block_, edge_, a, batch % cut.outputs, tap % cut.taps);
    if (plane < 0) return -1;
    offset += plane * plane_pitch_[a];
    batch /= cut.outputs;
    tap /= cut.taps;
  }
  return offset;
}

int64_t GradientOperands::RowsOfK(int64_t k) const {
  return std::min<int64_t>(128, k_extent_ - k);
}

bool GradientOperands::Meets(int64_t batch, int64_t /*row*/, int64_t k) const {
  // At an end of the array a result may meet nothing in a step that starts its
  // sum, or finishes it: it meets zeros.
  if (edge_.axis >= 0) return true;
  for (int64_t slice = k / 8; slice < k / 8 + 16; ++slice) {
    if (OffsetOf(batch, slice) >= 0) return true;
  }
  return false;
}

std::vector<Vec> GradientOperands::Lhs(int64_t /*batch*/, int64_t row,
                                       int64_t k) {
  return loader_.Load(lhs_, 0, row, k, k, true);
}

std::vector<Vec> GradientOperands::Weights(int64_t batch, int64_t row,
                                           int64_t col, int64_t k) {
  const int64_t first = OffsetOf(batch, (k + row) / 8);
  const int64_t second = OffsetOf(batch, (k + row) / 8 + 1);
  if (first < 0 && second < 0) {
    return std::vector<Vec>(arrays_.bf16 ? 1 : 2, b_.Imm(0));
  }
  // A half that meets nothing is loaded twice and cut off.
  BlockPlace place = input_;
  const int64_t from = first < 0 ? second : first;
  place.batch_pitch = 1;
  place.row_pitch = (second < 0 ? first : second) - from;
  // What lies behind K meets nothing: no masks of a ragged K.
  std::vector<Vec> regs =
      loader_.Load(place, from + col / 128 * input_.lane_pitch, 0, 0, 0, false);
  padding_.Clear(&regs, (k + row) / 8, &b_);
  for (int h = 0; h < 2; ++h) {
    if ((h == 0 ? first : second) >= 0) continue;
    if (arrays_.bf16) {
      regs[0] = b_.Binary(Opcode::kVand, regs[0], half_[1 - h]);
    } else {
      regs[h] = b_.Imm(0);
    }
  }
  return regs;
}

namespace {

// The grid dimension that walks over the taps of axis `a`; -1: none does.
int GridOf(const AxisBlock& cut, size_t a, const GridDims& grid) {
  if (cut.tap_grid == 1) return -1;
  return a == 0 ? grid.k : kGradientSecondGrid;
}

// Over its outputs or its taps.
int InputGridOf(const AxisBlock& cut, size_t a, const GridDims& grid) {
  if (cut.grid > 1) return a == 0 ? grid.b : kGradientSecondGrid;
  return GridOf(cut, a, grid);
}

// Planes of one operand, some rows of the batch, some lanes.
int AddPlanes(const MatrixView& view, int arg, std::vector<isa::WindowDim> dims,
              const ConvolutionForm& form, const ConvolutionBlock& block,
              int64_t lanes, int lane_grid, const GridDims& grid,
              Tiling* tiling) {
  isa::Window w;
  w.arg = arg;
  w.dims = std::move(dims);
  isa::WindowDim rows, columns;
  rows.block = block.row_tiles;
  rows.extent = form.RowTiles();
  rows.grid_dim = block.row_grid > 1 ? kGradientSecondGrid : -1;
  rows.hbm_stride = view.row_stride;
  columns.block = CeilOfRatio<int64_t>(lanes, 128);
  columns.extent = CeilOfRatio<int64_t>(view.columns, 128);
  columns.hbm_stride = view.tile_bytes;
  columns.grid_dim = lane_grid;
  w.dims.push_back(rows);
  w.dims.push_back(columns);
  w.inner_bytes = view.tile_bytes;
  int64_t bytes = view.tile_rows * 128 * hlo::BitWidth(view.type) / 8;
  bool moves = false;
  for (size_t d = w.dims.size(); d-- > 0;) {
    w.dims[d].vmem_stride = bytes;
    bytes *= w.dims[d].block;
    moves |= w.dims[d].grid_dim >= 0 && grid.bounds[w.dims[d].grid_dim] > 1;
  }
  w.slots = moves ? 2 : 1;
  // Transposes take 128 rows at a time, products 16.
  w.slot_bytes = bytes + 16 * columns.block * isa::kVregBytes;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

}  // namespace

int AddGradientKernelWindow(const ConvolutionForm& form,
                            const ConvolutionBlock& block,
                            const ProductTile& tile, const GridDims& grid,
                            Tiling* tiling) {
  std::vector<isa::WindowDim> dims;
  for (size_t a = 0; a < form.axes.size(); ++a) {
    isa::WindowDim d;
    d.block = block.axes[a].taps;
    d.extent = form.axes[a].taps;
    d.hbm_stride = form.axes[a].tap_pitch;
    d.grid_dim = GridOf(block.axes[a], a, grid);
    dims.push_back(d);
  }
  return AddPlanes(form.product.lhs, form.product.lhs_arg, std::move(dims),
                   form, block, tile.block_m, grid.m, grid, tiling);
}

int AddGradientInputWindow(const ConvolutionForm& form,
                           const ConvolutionBlock& block,
                           const ProductTile& tile, const GridDims& grid,
                           Tiling* tiling) {
  std::vector<isa::WindowDim> dims;
  for (size_t a = 0; a < form.axes.size(); ++a) {
    const AxisBlock& cut = block.axes[a];
    isa::WindowDim d;
    d.block = cut.planes;
    d.extent = form.axes[a].in;
    d.hbm_stride = form.axes[a].in_pitch;
    d.grid_dim = InputGridOf(cut, a, grid);
    d.advance = cut.advance;
    d.origin = cut.origin;
    dims.push_back(d);
  }
  return AddPlanes(form.product.rhs, form.product.rhs_arg, std::move(dims),
                   form, block, tile.block_n, grid.n, grid, tiling);
}

}  // namespace ptxla::lowering
