// The windows that a TPU compiler chose for a kernel and wrote into its
// schedule: `window_config` of an instruction's backend_config, JSON with
// numbers as strings.
//
//   "window_config":{"output_window_bounds":["32","8"],
//                    "iteration_bounds":["2","4","1"], ...}
//
// A product of [1024,2048] (M, N) and K = 8192 has steps of 32 x 8 rows and
// 8 x 128 columns: 2 along N, outermost, then 4 along M, then 1 along K.
// Windows count tiles of the result as it lies, major dimension first: 8 rows,
// 128 lanes, planes.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_WINDOW_CONFIG_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_WINDOW_CONFIG_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct WindowConfig {
  std::vector<int64_t> output;      // tiles of a step, by dimension
  std::vector<int64_t> iterations;  // steps, outermost first

  int64_t Steps() const;
};

// nullopt: there is none, or none with both lists.
std::optional<WindowConfig> WindowConfigOf(const Instruction& instruction);

// How a product's result [planes, rows, columns], of `extents` elements by
// dimension from major to minor, is cut: blocks of elements, and steps along K.
struct ProductWindows {
  int64_t planes = 1, rows = 8, columns = 128;
  int64_t k_steps = 1;
};

// nullopt: windows that do not cut an array of these extents into so many
// steps, or cut planes unevenly.
std::optional<ProductWindows> WindowsOfProduct(
    const WindowConfig& config, const std::vector<int64_t>& extents);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_WINDOW_CONFIG_H_
