// The weights of a convolution whose taps share K tiles (tap_packing.h): rows
// of several taps side by side in one register, made as the stream asks for
// them.
//
//   weights.Load(0, 128, 256)  ->  rows 0 to 15 of K tile 2, columns 128 to 255
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_WEIGHTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/tap_packing.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Bytes from one index of a window's dimension to the next: in its slot, or in
// the argument itself.
inline int64_t PitchOf(const isa::Window& w, size_t dim, bool resident) {
  return resident ? w.dims[dim].hbm_stride : w.dims[dim].vmem_stride;
}

// `block` for loads of two tiles of 8 rows, `rows` bytes apart, whose offset
// holds all other strides.
BlockPlace PlaceWithRows(const BlockPlace& block, int64_t rows);

class PackedWeights {
 public:
  // Of window `number`, `window`. Makes the masks of all rows, as globals, for
  // weights that are not transposed: before the stream begins. `raw` loads what
  // has the features of one tap, `whole` rows without an end. All must outlive
  // it.
  PackedWeights(const ConvolutionForm& form, const ConvolutionBlock& block,
                const TapPacking& packing, const isa::Window& window,
                int number, OperandLoader* raw, OperandLoader* whole,
                codegen::CodeBuilder* b);

  // The 16 rows from `row` on of the K tile that begins at `k`, 128 columns
  // from `col` on, as bf16; transposed weights have columns in rows.
  std::vector<codegen::Vec> Load(int64_t row, int64_t col, int64_t k);

 private:
  // Values that are zero beyond their own lanes, each moved to its place.
  codegen::Vec Join(const std::vector<codegen::Vec>& values,
                    const std::vector<int64_t>& lanes);
  // Rows of taps of fewer than 8 features, from that of `tap` on.
  codegen::Vec NarrowRows(int64_t tap, int64_t across);
  codegen::Vec RowMask(int64_t row, int64_t lanes);
  codegen::Vec Masked(codegen::Vec rows, int64_t row, int64_t lanes);
  int64_t TapOffset(int64_t tap) const;  // bytes from the block's start

  const ConvolutionForm& form_;
  const ConvolutionBlock& block_;
  const TapPacking& packing_;
  OperandLoader* raw_;
  OperandLoader* whole_;
  codegen::CodeBuilder& b_;
  BlockPlace weights_;
  std::vector<int64_t> tap_pitch_;  // bytes, by axis
  int64_t weights_at_ = 0;          // of the first packed feature
  // By which of 16 rows belong to a feature.
  std::map<uint32_t, codegen::Vec> masks_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_WEIGHTS_H_
