// The size of a dimension that an attribute names, as attributes count: in 64
// bits.
//
//   SizeOf(*convolution, dims.output_feature)
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SIZE_OF_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SIZE_OF_H_

#include <cstdint>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

inline int64_t SizeOf(const Instruction& value, int64_t dim) {
  return value.shape().dim(static_cast<int>(dim));
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SIZE_OF_H_
