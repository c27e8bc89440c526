// Elements that a matrix takes in whole tiles of 8 x 128.
//
//   InTiles(20, 200)   // 24 * 256
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_IN_TILES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_IN_TILES_H_

#include <cstdint>

#include "base/units.h"

namespace ptxla::hlo {

inline int64_t InTiles(int64_t rows, int64_t columns) {
  return RoundUpTo<int64_t>(rows, 8) * RoundUpTo<int64_t>(columns, 128);
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_IN_TILES_H_
