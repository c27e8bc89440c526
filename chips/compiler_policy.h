// Rules of a chip's compiler that passes and lowering have to read alike.
//
//   const int64_t longest = chips::ProductStepBundles(chip);   // v6e: 13,800
#ifndef PTXLA_CHIPS_COMPILER_POLICY_H_
#define PTXLA_CHIPS_COMPILER_POLICY_H_

#include <cstdint>

#include "chips/chip_spec.h"

namespace ptxla::chips {

// The longest straight code, in bundles, that one grid step of a product or
// convolution may have: "policy.product_step_bundles". A chip file without it
// gets 8,192 (ASSUMED; the TPU compiler's go up to 12,700 to 21,100).
inline int64_t ProductStepBundles(const ChipSpec& chip) {
  constexpr double kMost = 8192;
  return static_cast<int64_t>(
      chip.Policy("product_step_bundles").value_or(kMost));
}

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_COMPILER_POLICY_H_
