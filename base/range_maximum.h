// A sequence of sums with fast "add to a range" and "maximum of a range".
//
//   RangeMaximum live(100);
//   live.Add(10, 20, 4096);          // positions 10 to 20, both included
//   live.Maximum(15, 30) == 4096
#ifndef PTXLA_BASE_RANGE_MAXIMUM_H_
#define PTXLA_BASE_RANGE_MAXIMUM_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ptxla {

class RangeMaximum {
 public:
  explicit RangeMaximum(int size) {
    while (leaves_ < size) leaves_ *= 2;
    nodes_.resize(2 * leaves_);
  }

  void Add(int first, int last, int64_t amount) {
    Add(1, 0, leaves_ - 1, first, last, amount);
  }
  int64_t Maximum(int first, int last) const {
    return Maximum(1, 0, leaves_ - 1, first, last);
  }

 private:
  // `most` counts what was added at the node and below it.
  struct Node {
    int64_t added = 0, most = 0;
  };

  void Add(int n, int low, int high, int first, int last, int64_t amount) {
    if (last < low || high < first) return;
    if (first <= low && high <= last) {
      nodes_[n].added += amount;
      nodes_[n].most += amount;
      return;
    }
    const int middle = (low + high) / 2;
    Add(2 * n, low, middle, first, last, amount);
    Add(2 * n + 1, middle + 1, high, first, last, amount);
    nodes_[n].most =
        nodes_[n].added + std::max(nodes_[2 * n].most, nodes_[2 * n + 1].most);
  }
  int64_t Maximum(int n, int low, int high, int first, int last) const {
    if (last < low || high < first) return INT64_MIN / 2;
    if (first <= low && high <= last) return nodes_[n].most;
    const int middle = (low + high) / 2;
    return nodes_[n].added +
           std::max(Maximum(2 * n, low, middle, first, last),
                    Maximum(2 * n + 1, middle + 1, high, first, last));
  }

  int leaves_ = 1;
  std::vector<Node> nodes_;
};

}  // namespace ptxla

#endif  // PTXLA_BASE_RANGE_MAXIMUM_H_
