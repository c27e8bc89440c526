#include "hlo_backend/lowering/convolutions/packed_gradient.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;

namespace {

// Results of 16 rows in one block of code: the XLUs fill and drain once for
// all of them, in the time of two of these.
constexpr int64_t kTogether = 32;

}  // namespace

GradientPacking GradientPacking::Of(const ConvolutionForm& gradient,
                                    const ArrayShape& arrays) {
  GradientPacking p;
  p.exchanged = gradient;
  p.exchanged.gradient = false;
  for (WindowAxis& a : p.exchanged.axes) {
    if (a.reversal) return p;
    std::swap(a.out, a.taps);
    std::swap(a.stride, a.window_dilation);
  }
  const ProductProblem& problem = gradient.product.problem;
  if (problem.whole_rows || problem.row_planes > 0) return p;
  // The input takes the place of the LHS; no rows of weights decide how many
  // lanes a result has.
  ProductForm& product = p.exchanged.product;
  product.lhs = gradient.product.rhs;
  product.problem.k = problem.n;
  product.problem.rhs.transposed = true;
  p.taps = TapPacking::Of(p.exchanged, arrays);
  return p;
}

ConvolutionBlock GradientPacking::Exchanged(ConvolutionBlock block) {
  for (AxisBlock& a : block.axes) {
    std::swap(a.outputs, a.taps);
    std::swap(a.grid, a.tap_grid);
  }
  return block;
}

PackedGradientOperands::PackedGradientOperands(
    const GradientPacking& packing, const ConvolutionBlock& exchanged,
    const ConvolutionEdge& edge, const ArrayShape& arrays,
    const BlockPlace& lhs, int64_t k_extent, const isa::Window& input,
    int input_number, int64_t scratch, const RowPadding& padding,
    CodeBuilder* b)
    : b_(*b),
      k_extent_(k_extent),
      packed_(
          packing.exchanged, exchanged, edge, packing.taps, arrays,
          ConvolutionInput::InWindow(packing.exchanged, input, input_number, b),
          scratch, b),
      loader_(arrays, k_extent, b),
      padding_(padding),
      lhs_(lhs) {}

int64_t PackedGradientOperands::RowsOfK(int64_t k) const {
  return std::min<int64_t>(128, k_extent_ - k);
}

std::vector<Vec> PackedGradientOperands::Lhs(int64_t /*batch*/, int64_t row,
                                             int64_t k) {
  return loader_.Load(lhs_, 0, row, k, k, true);
}

std::vector<Vec> PackedGradientOperands::Weights(int64_t /*batch*/, int64_t row,
                                                 int64_t col, int64_t k) {
  if (col / 128 >= packed_.KTiles()) return {b_.Imm(0)};
  std::vector<Vec> regs = packed_.Lhs(0, k + row, col);
  padding_.Clear(&regs, (k + row) / 8, &b_);
  return regs;
}

void EmitUnpacking(const GradientPacking& packing, const BlockPlace& sums,
                   int64_t rows, Epilogue* epilogue, CodeBuilder* b) {
  const TapPacking& taps = packing.taps;
  const int64_t last = packing.exchanged.axes.back().taps;
  int64_t emitted = 0;
  for (size_t t = 0; t < taps.tiles.size(); ++t) {
    const TapPacking::Tile& tile = taps.tiles[t];
    const TapPacking::Run& run = taps.runs[tile.run];
    const auto col = static_cast<int64_t>(128 * t);
    for (int64_t row = 0; row < rows; row += 16) {
      for (int64_t n = 0; n < tile.count * run.taps; ++n) {
        if (emitted++ % kTogether == 0) b->NewBlock("unpack");
        const int64_t lane = n * taps.tap_lanes;
        std::vector<Vec> tiles;
        for (const int64_t eight : {0, 8}) {
          const auto at =
              static_cast<int32_t>(sums.Offset(0, row + eight, col));
          const Vec sum = b->Load(sums.space, sums.base, at);
          tiles.push_back(
              lane == 0 ? sum
                        : b->RotateLanes(sum, static_cast<int>(128 - lane)));
        }
        const int64_t result =
            (tile.first + n / run.taps) * last + run.first + n % run.taps;
        epilogue->Emit(packing.exchanged.PlaneOfResult(result), row, 0, tiles);
      }
    }
  }
}

int64_t UnpackingCycles(const GradientPacking& packing, int64_t rows,
                        const isa::MachineModel& machine) {
  const int64_t results = packing.exchanged.Taps();
  // Those from lane 0 on stay where they are.
  const int64_t moved =
      results - static_cast<int64_t>(packing.taps.tiles.size());
  const int64_t blocks =
      CeilOfRatio(results * CeilOfRatio<int64_t>(rows, 16), kTogether);
  const int64_t chain = machine.Latency(isa::LatencyKey::kVectorLoad) +
                        machine.Latency(isa::LatencyKey::kXluRotate);
  const int64_t row_tiles = CeilOfRatio<int64_t>(rows, 8);
  return blocks * chain +
         std::max(
             CeilOfRatio<int64_t>(
                 moved * row_tiles * machine.Interval(isa::IntervalKey::kXlu),
                 machine.xlus),
             CeilOfRatio<int64_t>(results * row_tiles,
                                  machine.Slots(isa::Slot::kStore)));
}

}  // namespace ptxla::lowering
