// Which block of rows a grid step of a chain of two products takes
// (analysis/product_chain.h): one that both can take, by the cost of both. A
// step has one member of the batch (a head): what is measured is one after
// another, with nothing to hide the latencies of a head behind the next one.
//
//   ChainProblem chain{rows_problem, rows_arrays, problem, arrays, true, 2};
//   ASSIGN_OR_RETURN(std::vector<ChainBlocks> blocks,
//                    ChooseChainBlocks(chain, machine, limits));  // best first
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_CHAIN_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_CHAIN_TILING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

struct ChainProblem {
  ProductProblem rows;  // the first product, whose rows are finished
  ArrayShape rows_arrays;
  ProductProblem product;  // the one that reads them
  ArrayShape product_arrays;
  bool left = true;       // as its left operand, else as its right one
  int64_t row_bytes = 2;  // of an element that is handed on

  // Unimplemented: the second does not take rows as the first makes them.
  absl::Status Check() const;
};

struct ChainBlocks {
  ProductTile rows, product;
  ProductCost rows_cost, product_cost;
  int64_t step = 0;    // bundles
  int64_t cycles = 0;  // of the kernel
  int64_t vmem_bytes = 0;

  std::string ToString() const;
};

// Grid steps of the core that has most of them.
int64_t ChainSteps(const ChainBlocks& blocks, int cores);

// The fastest few. ResourceExhausted if none fits.
absl::StatusOr<std::vector<ChainBlocks>> ChooseChainBlocks(
    const ChainProblem& chain, const isa::MachineModel& machine,
    const ProductLimits& limits);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_CHAIN_TILING_H_
