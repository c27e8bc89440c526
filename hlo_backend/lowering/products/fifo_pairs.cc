#include "hlo_backend/lowering/products/fifo_pairs.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace ptxla::codegen {
namespace {

constexpr FifoPairs::Window kNoWindow{0, 0};

bool PushedBefore(const FifoPairs::Pair& pair, int64_t push) {
  return pair.push < push;
}

}  // namespace

FifoPairs::Window FifoPairs::PopsOf(int64_t push, int64_t interval) const {
  const auto next =
      std::lower_bound(pairs_.begin(), pairs_.end(), push, PushedBefore);
  Window pops{0, std::numeric_limits<int64_t>::max()};
  if (next != pairs_.begin()) {
    const Pair& before = *(next - 1);
    if (push < before.push + interval) return kNoWindow;
    pops.first = before.pop + 1;
  }
  if (next != pairs_.end()) {
    if (next->push < push + interval) return kNoWindow;
    pops.end = next->pop;
  }
  return pops;
}

void FifoPairs::Insert(Pair pair) {
  const Window pops = PopsOf(pair.push, /*interval=*/1);
  CHECK(pops.first <= pair.pop && pair.pop < pops.end)
      << "a pop out of the order of pushes";
  pairs_.insert(
      std::lower_bound(pairs_.begin(), pairs_.end(), pair.push, PushedBefore),
      pair);
}

}  // namespace ptxla::codegen
