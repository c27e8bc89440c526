// Sets of the numbers 0 ... n-1 that are joined one by one.
//
//   UnionFind sets(5);
//   sets.Union(1, 3);
//   bool same = sets.Find(1) == sets.Find(3);   // the least of its set
#ifndef PTXLA_BASE_UNION_FIND_H_
#define PTXLA_BASE_UNION_FIND_H_

#include <algorithm>
#include <numeric>
#include <vector>

namespace ptxla {

class UnionFind {
 public:
  explicit UnionFind(int n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Union(int a, int b) {
    a = Find(a);
    b = Find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace ptxla

#endif  // PTXLA_BASE_UNION_FIND_H_
