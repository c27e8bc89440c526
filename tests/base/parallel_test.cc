#include "base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

namespace ptxla {
namespace {

TEST(ParallelTest, EachThingIsDoneOnce) {
  for (int workers : {1, 2, 5}) {
    std::vector<int> times(1000, 0);
    ParallelFor(1000, workers, [&](int, int i) { ++times[i]; });
    EXPECT_EQ(times, std::vector<int>(1000, 1)) << workers;
  }
}

TEST(ParallelTest, WorkersKeepToTheirOwn) {
  std::vector<int> done(3, 0);
  ParallelFor(100, 3, [&](int worker, int) { ++done[worker]; });
  EXPECT_EQ(done[0] + done[1] + done[2], 100);
}

TEST(ParallelTest, OneWorkerKeepsTheOrder) {
  std::vector<int> order;
  ParallelFor(5, 1, [&](int worker, int i) {
    EXPECT_EQ(worker, 0);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ParallelTest, NothingToDoIsDone) {
  ParallelFor(0, ParallelWorkers(0), [](int, int) { FAIL(); });
  EXPECT_EQ(ParallelWorkers(0), 1);
}

}  // namespace
}  // namespace ptxla
