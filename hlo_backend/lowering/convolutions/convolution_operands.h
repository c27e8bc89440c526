// Operands of a convolution for the stream of its product: a K tile is 128
// features of one tap, and LHS rows are slices (tiles of 8 rows) of the planes
// that the tap shifts the outputs to.
//
// A slice that lies between the elements of a dilated input, or beyond the
// border of one that lies in VMEM, is not multiplied at all. Beyond the
// borders of a window that moves there are zeros (FillBorders).
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_OPERANDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_OPERANDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Where the input's planes lie for the stream.
struct ConvolutionInput {
  BlockPlace place;
  std::vector<int64_t> plane_pitch;  // bytes, by axis

  // In the slot of window `number`, or in VMEM where the argument is.
  static ConvolutionInput InWindow(const ConvolutionForm& form,
                                   const isa::Window& window, int number,
                                   codegen::CodeBuilder* b);
};

class ConvolutionOperands : public StreamOperands {
 public:
  // Codegen spaces of the two blocks.
  static constexpr int kInput = 0, kWeights = 1;

  // Defines addresses and masks as globals, in blocks of their own. `form` and
  // `block` must outlive it. `features`: how many of each tap, the first ones.
  ConvolutionOperands(const ConvolutionForm& form,
                      const ConvolutionBlock& block, int64_t features,
                      const ConvolutionEdge& edge, const ArrayShape& arrays,
                      ConvolutionInput input, const isa::Window& weights,
                      int weights_number, codegen::CodeBuilder* b);

  int64_t RowsOfK(int64_t k) const override;
  bool Meets(int64_t batch, int64_t row, int64_t k) const override;
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row, int64_t k) override;
  std::vector<codegen::Vec> Weights(int64_t batch, int64_t row, int64_t col,
                                    int64_t k) override;

  // K tiles of a step.
  int64_t KTiles() const { return block_.Taps() * tiles_of_tap_; }

 private:
  // Offset of what the slice meets through the tap; -1: nothing.
  int64_t OffsetOf(int64_t slice, int64_t tap) const;

  const ConvolutionForm& form_;
  const ConvolutionBlock& block_;
  ArrayShape arrays_;
  codegen::CodeBuilder& b_;
  OperandLoader loader_;
  ConvolutionInput input_;
  BlockPlace weights_;
  std::vector<int64_t> tap_pitch_;  // by axis
  // By axis: [output * taps + tap].
  std::vector<std::vector<int64_t>> plane_of_;
  int64_t features_, slices_, tiles_of_tap_;
  // Upper and lower half of a packed register.
  std::array<codegen::Vec, 2> half_;
};

// Zeros in those planes of the input's slot that the window has beyond the
// input's borders, in the steps where it has them.
void FillBorders(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionGrid& grid, const isa::Window& input,
                 int input_number, codegen::CodeBuilder* b);

// The same where the planes lie elsewhere: `planes` has their sizes and
// pitches.
void FillBorders(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionGrid& grid, const isa::Window& planes,
                 const BlockPlace& place, codegen::CodeBuilder* b);

// Does any step's window reach beyond the borders, where FillBorders must?
bool HasBorders(const ConvolutionForm& form, const ConvolutionBlock& block);

// The one axis along which windows reach beyond the borders, in no other steps
// than its first and its last; -1: they do not. Nothing for other blocks: they
// cannot be read where they lie.
std::optional<int> EdgeAxis(const ConvolutionForm& form,
                            const ConvolutionBlock& block);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_OPERANDS_H_
