// Which constants are written as one number. Internal to reader and writer,
// which must agree.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_CONSTANTS_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_CONSTANTS_H_

#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo::mlir {

// Elements from which on a constant of one number is a broadcast.
inline constexpr int64_t kLongSplat = 1024;

inline bool IsLongSplat(const Literal& literal) {
  return !literal.IsElided() && literal.ElementCount() >= kLongSplat &&
         literal.IsUniform();
}

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_CONSTANTS_H_
