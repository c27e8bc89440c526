// Blocks of a grouped product's grid steps (ir/ragged_call.h).
//
// By rows, one tile of rows (as many as the array has, of few rows the next
// power of two) meets all of K and so many columns as fit: 128 x 4096 x 256 of
// bf16 on v5p, 256 x 4096 x 768 on v6e, as libtpu 0.0.42.1; K is cut where not
// even one tile of columns fits. Dense forms take blocks as its fused products
// do.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_TILING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {

struct RaggedTiling {
  ProductTile tile;
  // Which dimension of the grid walks what; `groups` is also that of planes.
  GridDims grid;
  int groups_dim = -1;
  // Sums of a block of the result wait in scratch over several steps.
  bool sums = false;
};

// ResourceExhausted if not even the smallest blocks fit.
absl::StatusOr<RaggedTiling> ChooseRaggedTiling(const KernelContext& context,
                                                const hlo::RaggedCall& call,
                                                hlo::PrimitiveType type,
                                                const ArrayShape& arrays);

// What timing assumes about data: groups of about equal size, whose bounds lie
// inside of row tiles. For each step, its group and its row tile.
struct AssumedSteps {
  std::vector<int64_t> group, tile;
};
AssumedSteps AssumeSteps(const hlo::RaggedCall& call);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_TILING_H_
