#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace ptxla {

int ParallelWorkers(int n) {
  constexpr int kMost = 4;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min({n, cores, kMost}));
}

void ParallelFor(int n, int workers,
                 absl::FunctionRef<void(int worker, int i)> work) {
  std::atomic<int> next{0};
  const auto run = [&](int worker) {
    for (int i; (i = next.fetch_add(1)) < n;) work(worker, i);
  };
  std::vector<std::thread> others;
  for (int w = 1; w < workers; ++w) others.emplace_back(run, w);
  run(0);
  for (std::thread& t : others) t.join();
}

}  // namespace ptxla
