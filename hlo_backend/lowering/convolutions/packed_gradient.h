// A gradient of weights with few features: what several of its results meet
// lies side by side in the lanes of one tile of its product.
//
//   out[p, m, n] = sum over taps t and rows r of
//                  kernel[t, r, m] * in[InputOf(p, t), r, n]
//
// With taps and results exchanged this walks over the input as a forward pass
// does, so its packing is that of taps (tap_packing.h): 3x3 results of 64
// features are 5 tiles of columns instead of 9, 7x7 of 3 are 2 instead of 49.
// The sums of a tile are taken apart once, after the last step.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_GRADIENT_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_GRADIENT_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/packed_operands.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/row_padding.h"

namespace ptxla::lowering {

// How a gradient's results share column tiles.
struct GradientPacking {
  ConvolutionForm exchanged;  // taps are results, results are taps
  TapPacking taps;

  bool packs() const { return taps.packs(); }
  int64_t Columns() const {
    return 128 * static_cast<int64_t>(taps.tiles.size());
  }
  // The cut of a gradient's step, with taps and results exchanged.
  static ConvolutionBlock Exchanged(ConvolutionBlock block);

  // Nothing is packed where windows do not allow it or no tile is saved.
  static GradientPacking Of(const ConvolutionForm& gradient,
                            const ArrayShape& arrays);
};

class PackedGradientOperands : public StreamOperands {
 public:
  // `lhs`: the kernel's block, transposed; `k_extent`: its columns. Packs the
  // input from byte `scratch` of the kernel's scratch on. `packing`,
  // `exchanged`, the step's block, and `padding`, of the planes, must outlive
  // it.
  PackedGradientOperands(const GradientPacking& packing,
                         const ConvolutionBlock& exchanged,
                         const ConvolutionEdge& edge, const ArrayShape& arrays,
                         const BlockPlace& lhs, int64_t k_extent,
                         const isa::Window& input, int input_number,
                         int64_t scratch, const RowPadding& padding,
                         codegen::CodeBuilder* b);

  int64_t RowsOfK(int64_t k) const override;
  bool Meets(int64_t, int64_t, int64_t) const override { return true; }
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row, int64_t k) override;
  std::vector<codegen::Vec> Weights(int64_t batch, int64_t row, int64_t col,
                                    int64_t k) override;

 private:
  codegen::CodeBuilder& b_;
  int64_t k_extent_;
  PackedOperands packed_;
  OperandLoader loader_;
  const RowPadding& padding_;
  BlockPlace lhs_;
};

// Hands the sums of `rows` rows, packed columns, to the epilogue: each result's
// features from lane 0 on. Appends blocks to `b`.
void EmitUnpacking(const GradientPacking& packing, const BlockPlace& sums,
                   int64_t rows, Epilogue* epilogue, codegen::CodeBuilder* b);

// Cycles of that: its blocks one after another, and what is stored or moved by
// the XLUs in them, whichever takes longer.
int64_t UnpackingCycles(const GradientPacking& packing, int64_t rows,
                        const isa::MachineModel& machine);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_GRADIENT_H_
