// How products of bf16 numbers between -1 and 1 are compared with the
// evaluator: sums in f32, in another order than its own.
//
//   EXPECT_OK(CompareKernel(text, ProductOn("v6e")).status());
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TOLERANCE_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TOLERANCE_H_

#include <string>

#include "tests/hlo_backend/lowering/bundle_harness.h"

namespace ptxla::lowering {

// `absolute`: of results that are sums of many terms.
inline HarnessOptions ProductOn(const std::string& chip,
                                double absolute = 0.05) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = absolute;
  options.relative = 0.02;
  return options;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_TOLERANCE_H_
