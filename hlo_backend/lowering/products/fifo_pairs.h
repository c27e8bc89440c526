// Pushes into the FIFO of one unit with the pops of their results, placed in
// any order.
//
// A FIFO gives results back in the order of their pushes. So a pair that goes
// between two others has its pop between theirs: exponential and reciprocal of
// one row of results wait for each other, and the rows behind it go in between.
//
//   FifoPairs pairs;
//   pairs.Insert({/*push=*/10, /*pop=*/23});
//   pairs.Insert({30, 43});
//   pairs.PopsOf(/*push=*/20, /*interval=*/1);  // cycles 24 ... 42
//   pairs.PopsOf(30, 1).empty();                // a push is there
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FIFO_PAIRS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FIFO_PAIRS_H_

#include <cstdint>
#include <vector>

namespace ptxla::codegen {

class FifoPairs {
 public:
  struct Pair {
    int64_t push, pop;
  };
  // Cycles [first, end).
  struct Window {
    int64_t first, end;
    bool empty() const { return end <= first; }
  };

  // Where the result of a push at that cycle may be popped, its latency aside.
  // Empty: the unit takes no push there. `interval`: cycles between pushes.
  Window PopsOf(int64_t push, int64_t interval) const;
  void Insert(Pair pair);
  // Cycle of the last pop, -1: none.
  int64_t last_pop() const { return pairs_.empty() ? -1 : pairs_.back().pop; }

 private:
  std::vector<Pair> pairs_;  // by push, and so by pop
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_FIFO_PAIRS_H_
