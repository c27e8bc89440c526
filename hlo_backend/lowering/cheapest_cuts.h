// Dimensions cut into blocks of about equal size.
//
//   const BlockCost cost = {1024, 1085, 200, 0.04};
//   CheapestCuts({512, 24}, cost) == {4, 3}     // 128 x 8: no padding
//   CheapestCuts({625, 40}, cost) == {25, 1}    // 25 x 40
//   CheapestCuts({513, 8}, cost) == {1, 4}      // 513 x 2: one block fewer
#ifndef PTXLA_HLO_BACKEND_LOWERING_CHEAPEST_CUTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CHEAPEST_CUTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace ptxla::lowering {

// Numbers of blocks, few first, that differ in what the largest holds.
//
//   DistinctCuts(10) == {1, 2, 3, 4, 5, 10}  // of 10, 5, 4, 3, 2 and 1
std::vector<int64_t> DistinctCuts(int64_t size);

// Of blocks of so many elements.
struct BlockCost {
  int64_t target = 1;   // elements of a block
  int64_t most = 1;     // or so many, where that is worth `excess`
  double block = 0;     // what a block costs beside its elements
  double excess = 0;    // of all costs, of blocks larger than the target
  int64_t sharers = 1;  // cores that have as many blocks each

  // Of `blocks` with so many elements each. Who has one block fewer waits for
  // the others.
  double Of(int64_t blocks, int64_t elements) const;
};

// What a choice of cuts costs; of equal ones the smaller `next` and `last`
// decide.
struct CutsCost {
  int64_t beyond = 0;  // by so much a block is not as it should be: too large
  double all = 0;      // at least that of all blocks and their elements
  int64_t next = 0, last = 0;
};
bool operator<(const CutsCost& a, const CutsCost& b);

// How many blocks each dimension (outer to inner) has, so that `cost_of` all of
// them is least. Of equal choices the innermost dimensions have the largest
// blocks. Not tried is what has blocks of more than `cost.most`, unless all
// have, and what costs more for its blocks and elements, padding included, than
// another choice in all.
std::vector<int64_t> CheapestCuts(
    absl::Span<const int64_t> sizes, const BlockCost& cost,
    absl::FunctionRef<CutsCost(absl::Span<const int64_t> cuts)> cost_of);

// The same, of `cost` alone.
std::vector<int64_t> CheapestCuts(absl::Span<const int64_t> sizes,
                                  const BlockCost& cost);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CHEAPEST_CUTS_H_
