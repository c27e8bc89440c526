#include "base/numerics/tiled_words.h"

#include "base/check.h"

namespace ptxla::numerics {

TiledWords::TiledWords(absl::Span<const int64_t> dimensions, int element_bits,
                       int tile_rows)
    : rank_(dimensions.size()),
      element_bits_(element_bits),
      per_word_(32 / element_bits),
      tile_rows_(tile_rows > 0 ? tile_rows : (element_bits == 8 ? 32 : 8)) {
  CHECK(element_bits == 8 || element_bits == 16 || element_bits == 32)
      << "element_bits " << element_bits;
  int64_t planes = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  if (rank_ == 1) {
    columns = 128;
    rows = (dimensions[0] + 127) / 128;
  } else if (rank_ >= 2) {
    for (size_t i = 0; i + 2 < rank_; ++i) {
      major_.push_back(dimensions[i]);
      planes *= dimensions[i];
    }
    rows = dimensions[rank_ - 2];
    columns = dimensions[rank_ - 1];
  }
  tiles_down_ = (rows + tile_rows_ - 1) / tile_rows_;
  tiles_across_ = (columns + 127) / 128;
  // A tile with fewer rows than a word holds still takes whole words.
  words_per_tile_ = (tile_rows_ + per_word_ - 1) / per_word_ * 128;
  word_count_ = planes * tiles_down_ * tiles_across_ * words_per_tile_;
}

}  // namespace ptxla::numerics
