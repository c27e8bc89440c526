// Operands of a convolution whose taps share K tiles (tap_packing.h). What is
// packed is written to scratch before the products, as planes of bf16: per run
// and outer plane of the input, and per tile of several outer taps. The stream
// then reads it as it reads an input.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_OPERANDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_OPERANDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/packed_weights.h"
#include "hlo_backend/lowering/convolutions/tap_packing.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class PackedOperands : public StreamOperands {
 public:
  // Packs, from byte `scratch` of the kernel's scratch on. All must outlive it.
  PackedOperands(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionEdge& edge, const TapPacking& packing,
                 const ArrayShape& arrays, ConvolutionInput input,
                 const isa::Window& weights, int weights_number,
                 int64_t scratch, codegen::CodeBuilder* b);
  // Without weights: what is packed is multiplied by something else (the
  // gradient of packed_gradient.h), and Weights() may not be called.
  PackedOperands(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionEdge& edge, const TapPacking& packing,
                 const ArrayShape& arrays, ConvolutionInput input,
                 int64_t scratch, codegen::CodeBuilder* b);

  int64_t RowsOfK(int64_t k) const override;
  bool Meets(int64_t batch, int64_t row, int64_t k) const override;
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row, int64_t k) override;
  std::vector<codegen::Vec> Weights(int64_t /*batch*/, int64_t row, int64_t col,
                                    int64_t k) override {
    return weights_->Load(row, col, k);
  }

  int64_t KTiles() const { return static_cast<int64_t>(packing_.tiles.size()); }

 private:
  // Where one part of a packed register comes from: offsets of its two tiles of
  // 8 rows (-1: nothing), and the lane it goes to.
  struct Part {
    bool raw = true;  // of the input; else of scratch, where tiles are packed
    int64_t first = -1, second = -1;
    int64_t lane = 0;
  };
  // Packs as a stream: latencies of the XLUs are hidden behind the registers
  // that follow.
  class Packer;
  void MakeRun(size_t run, Packer* packer);
  void MakeTile(size_t tile, Packer* packer);
  // Of the part's register: its two tiles, zero beyond its lanes.
  codegen::Vec Load(const Part& part);
  // What the result `slice` of a plane along the last axis meets through the
  // tap, in the input's outer plane at `outer`; -1: nothing.
  int64_t RawOffset(int64_t outer, int64_t slice, int64_t tap) const;

  // The plane of the outer axes that an output meets: its number among all in
  // the slot and its offset in the input; -1: none.
  struct Outer {
    int64_t number = -1, offset = -1;
  };
  Outer OuterOf(int64_t output, int64_t tap) const;
  int64_t TileOffset(size_t tile, int64_t slice) const;

  const ConvolutionForm& form_;
  const ConvolutionBlock& block_;
  const ConvolutionEdge edge_;
  const TapPacking& packing_;
  codegen::CodeBuilder& b_;
  OperandLoader raw_, whole_;
  ConvolutionInput input_;
  BlockPlace scratch_;
  std::optional<PackedWeights> weights_;
  // Of each run and each tile: first byte in scratch, or -1.
  std::vector<int64_t> run_at_, tile_at_;
  int64_t across_;         // tiles of 8 rows of the last axis
  int64_t packed_across_;  // of a packed plane
  int64_t input_at_ = 0;   // of the first packed feature, in an input's tile
  // Upper and lower half of a packed register.
  std::array<codegen::Vec, 2> half_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_PACKED_OPERANDS_H_
