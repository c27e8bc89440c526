// Dimensions cut into blocks of about equal size.
//
//   const BlockCost cost = {1024, 1085, 200, 0.04};
//   CheapestCuts({512, 24}, cost) == {4, 3}     // 128 x 8: no padding
//   CheapestCuts({625, 40}, cost) == {25, 1}    // 25 x 40
//   CheapestCuts({513, 8}, cost) == {1, 4}      // 513 x 2: one block fewer
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_CHEAPEST_CUTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_CHEAPEST_CUTS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace ptxla::lowering {

struct BlockCost {
  int64_t target = 1;   // elements of a block
  int64_t most = 1;     // or so many, where that is worth `excess`
  double block = 0;     // what a block costs beside its elements
  double excess = 0;    // of all costs, of blocks larger than the target
  int64_t sharers = 1;  // cores that have as many blocks each
};

// How many blocks each dimension (outer to inner) has, so that all of them,
// padding included, cost least. Of equal choices the innermost dimensions have
// the largest blocks.
std::vector<int64_t> CheapestCuts(absl::Span<const int64_t> sizes,
                                  const BlockCost& cost);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_CHEAPEST_CUTS_H_
