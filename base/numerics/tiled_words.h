// Where an element lies in a TPU buffer, as a 32-bit word and a bit field.
//
// TPU arrays are cut into tiles of 8 sublanes x 128 lanes: T(8,128) for
// 32-bit types, T(8,128)(2,1) for 16-bit and T(32,128)(4,1) for 8-bit ones,
// where 2 or 4 neighbouring rows share a word (tpu_hardware.md section 12).
// Tiles of the two minor dimensions follow one another row by row, then the
// major dimensions; rows and columns are padded to whole tiles. A word's
// index is vreg * 1024 + sublane * 128 + lane.
//
// A 1-D array is dense: T(1024), element i in word i (32-bit), and rows of 128
// packed as above for narrower types.
//
//   TiledWords words({8, 130}, 32);
//   words.At({3, 129}).word == 1024 + 3 * 128 + 1
#ifndef PTXLA_BASE_NUMERICS_TILED_WORDS_H_
#define PTXLA_BASE_NUMERICS_TILED_WORDS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::numerics {

struct WordPosition {
  int64_t word = 0;
  int shift = 0;  // the element is bits [shift, shift + element bits)
};

class TiledWords {
 public:
  // `dimensions` in physical order, most major first. `element_bits` is 8, 16
  // or 32; `tile_rows` 0 means the default of the type (8, 8, 32).
  TiledWords(absl::Span<const int64_t> dimensions, int element_bits,
             int tile_rows = 0);

  WordPosition At(absl::Span<const int64_t> index) const {
    int64_t plane = 0;
    for (size_t i = 0; i < major_.size(); ++i) {
      plane = plane * major_[i] + index[i];
    }
    const int64_t row = rank_ >= 2 ? index[rank_ - 2] : 0;
    const int64_t column = rank_ >= 1 ? index[rank_ - 1] : 0;
    return rank_ >= 2 ? At(plane, row, column)
                      : At(0, column / 128, column % 128);
  }
  // The same, with the major dimensions flattened to one.
  WordPosition At(int64_t plane, int64_t row, int64_t column) const {
    const int64_t tile =
        (plane * tiles_down_ + row / tile_rows_) * tiles_across_ + column / 128;
    const int64_t in_tile = row % tile_rows_;
    return {tile * words_per_tile_ + in_tile / per_word_ * 128 + column % 128,
            static_cast<int>(in_tile % per_word_) * element_bits_};
  }
  int64_t word_count() const { return word_count_; }

 private:
  size_t rank_;
  std::vector<int64_t> major_;
  int element_bits_;
  int per_word_;
  int64_t tile_rows_;
  int64_t tiles_down_ = 1;
  int64_t tiles_across_ = 1;
  int64_t words_per_tile_;
  int64_t word_count_;
};

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_TILED_WORDS_H_
