// What the tests of products with finished rows share: chips, inputs whose
// exponentials stay small, and the bodies of their reduces.
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_CASES_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_CASES_H_

#include <string>

#include "tests/hlo_backend/lowering/bundle_harness.h"

namespace ptxla::lowering {

inline HarnessOptions On(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = 0.01;
  options.relative = 0.02;
  return options;
}

inline constexpr const char* kReducers = R"(
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
)";

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_PRODUCTS_ROW_EPILOGUE_CASES_H_
