#include "base/range_maximum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace ptxla {
namespace {

TEST(RangeMaximumTest, AddsAndAsksAsAPlainArrayDoes) {
  std::mt19937 random(7);
  for (const int n : {1, 2, 13, 64}) {
    RangeMaximum fast(n);
    std::vector<int64_t> plain(n, 0);
    for (int k = 0; k < 300; ++k) {
      int first = static_cast<int>(random() % n);
      int last = static_cast<int>(random() % n);
      if (first > last) std::swap(first, last);
      const int64_t number = static_cast<int64_t>(random() % 9) - 4;
      fast.Add(first, last, number);
      for (int i = first; i <= last; ++i) plain[i] += number;
      const int64_t most =
          *std::max_element(plain.begin() + first, plain.begin() + last + 1);
      ASSERT_EQ(fast.Maximum(first, last), most) << first << " to " << last;
    }
  }
}

}  // namespace
}  // namespace ptxla
