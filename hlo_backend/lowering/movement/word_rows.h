// A tiled array as rows of 512 bytes, in memory order: 128 words of 32 bits,
// each holding 1, 2 or 4 neighbouring rows of the array (parts). A vector
// register is 8 word rows.
//
//   WordRows rows(physical_array);
//   DimVector index;
//   if (rows.ElementAt({5, /*part=*/1, /*lane=*/64}, &index)) ...
//   WordPlace at = rows.PlaceOf(index);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_WORD_ROWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_WORD_ROWS_H_

#include <cstdint>

#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

struct WordPlace {
  int64_t row = 0;  // word row
  int part = 0;     // which bits of the word
  int lane = 0;
};

class WordRows {
 public:
  explicit WordRows(const PhysicalArray& array) : a_(array) {}

  const PhysicalArray& array() const { return a_; }
  int64_t count() const { return a_.bytes() / 512; }
  int parts() const { return a_.packing; }
  // Word rows of tiles side by side: a row of tiles.
  int64_t TileRow() const { return a_.row_stride() / 512; }

  // The logical index of the element there; false in padding.
  bool ElementAt(const WordPlace& at, hlo::DimVector* index) const;
  WordPlace PlaceOf(const hlo::DimVector& index) const;
  // Lanes of a word row that hold elements in this part: 0 ... n-1.
  int ValidLanes(int64_t row, int part) const;

 private:
  PhysicalArray a_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_WORD_ROWS_H_
