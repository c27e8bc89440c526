// Which choice of tiles and which pace of its epilogue make a product's kernel
// fastest: its code is made and timed until nothing better is to be expected.
//
//   ProductTrial best = FastestProduct(
//       paces, chip,
//       [&](pace, tiles) {
//         ...  // the kernel with that pace and choice of tiles (0: the best)
//       },
//       [&](tiles) {
//         ...  // cycles that no kernel with that choice is faster than
//       });
//
// Code is made only where it may be the fastest: of a product that waits for
// memory the next best tiles, which wait as long, are not tried.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FASTEST_PRODUCT_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FASTEST_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "chips/chip_spec.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

struct ProductTrial {
  // ResourceExhausted: there is no such choice of tiles.
  absl::StatusOr<isa::Kernel> kernel = absl::ResourceExhaustedError("no pace");
  int64_t cycles = 0;    // of all steps, or of memory
  int64_t step = 0;      // of one step
  int64_t expected = 0;  // of one step, by the choice of tiles
  bool waits = false;    // one epilogue runs at a time

  // The next best tiles may be better.
  bool IsSlow() const;
};

// `least`: INT64_MAX for a choice that there is not.
ProductTrial FastestProduct(
    absl::Span<const EpiloguePace> paces, const chips::ChipSpec& chip,
    const std::function<ProductTrial(const EpiloguePace&, size_t)>& make,
    absl::FunctionRef<int64_t(size_t)> least);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FASTEST_PRODUCT_H_
