// Operands of a convolution whose features are some whole K tiles and a rest of
// at most half of one: 320 are two tiles and 64. First come the whole tiles of
// every tap, then the taps' rests, packed side by side (tap_packing.h):
//
//   3x3, 320 features:  9 x 2 tiles and 5 instead of 9 x 3
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_MIXED_OPERANDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_MIXED_OPERANDS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/packed_operands.h"

namespace ptxla::lowering {

class MixedOperands : public StreamOperands {
 public:
  // Both must outlive it; `packed` has what `whole` leaves.
  MixedOperands(ConvolutionOperands* whole, PackedOperands* packed)
      : whole_(*whole),
        packed_(*packed),
        first_packed_(128 * whole->KTiles()) {}

  int64_t RowsOfK(int64_t k) const override {
    return IsWhole(k) ? whole_.RowsOfK(k) : packed_.RowsOfK(k - first_packed_);
  }
  bool Meets(int64_t batch, int64_t row, int64_t k) const override {
    return IsWhole(k) ? whole_.Meets(batch, row, k)
                      : packed_.Meets(batch, row, k - first_packed_);
  }
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row,
                                int64_t k) override {
    return IsWhole(k) ? whole_.Lhs(batch, row, k)
                      : packed_.Lhs(batch, row, k - first_packed_);
  }
  std::vector<codegen::Vec> Weights(int64_t batch, int64_t row, int64_t col,
                                    int64_t k) override {
    return IsWhole(k) ? whole_.Weights(batch, row, col, k)
                      : packed_.Weights(batch, row, col, k - first_packed_);
  }

  int64_t KTiles() const { return whole_.KTiles() + packed_.KTiles(); }

 private:
  bool IsWhole(int64_t k) const { return k < first_packed_; }

  ConvolutionOperands& whole_;
  PackedOperands& packed_;
  const int64_t first_packed_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_MIXED_OPERANDS_H_
