// Numbers in a row, all 0 at first: adds to stretches of them, and asks for the
// largest of a stretch, each in logarithmic time.
//
//   RangeMax r(10);
//   r.Add(2, 5, 3);   // to the numbers 2, 3 and 4
//   r.Max(0, 3)       // 3
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RANGE_MAX_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RANGE_MAX_H_

#include <algorithm>
#include <climits>
#include <vector>

namespace ptxla::codegen {

class RangeMax {
 public:
  explicit RangeMax(int size) {
    while (leaves_ < size) leaves_ *= 2;
    added_.assign(2 * leaves_, 0);
    most_.assign(2 * leaves_, 0);
  }

  // To numbers `from` to `to` - 1.
  void Add(int from, int to, int number) {
    if (from < to && number != 0) Add(1, 0, leaves_, from, to, number);
  }
  // INT_MIN of none.
  int Max(int from, int to) const { return Max(1, 0, leaves_, from, to); }

 private:
  void Add(int node, int begin, int end, int from, int to, int number) {
    if (from <= begin && end <= to) {
      added_[node] += number;
      most_[node] += number;
      return;
    }
    const int middle = (begin + end) / 2;
    if (from < middle) Add(2 * node, begin, middle, from, to, number);
    if (to > middle) Add(2 * node + 1, middle, end, from, to, number);
    most_[node] = added_[node] + std::max(most_[2 * node], most_[2 * node + 1]);
  }

  int Max(int node, int begin, int end, int from, int to) const {
    if (from >= end || to <= begin) return INT_MIN;
    if (from <= begin && end <= to) return most_[node];
    const int middle = (begin + end) / 2;
    const int most = std::max(Max(2 * node, begin, middle, from, to),
                              Max(2 * node + 1, middle, end, from, to));
    return most == INT_MIN ? most : most + added_[node];
  }

  int leaves_ = 1;
  // By node of a binary tree, 1 the root: what was added to all numbers of the
  // node at once, and the largest with that.
  std::vector<int> added_, most_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RANGE_MAX_H_
