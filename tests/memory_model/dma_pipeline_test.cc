// The recurrence against a simulation that knows nothing of it.
#include "memory_model/dma_pipeline.h"

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace ptxla::memory {
namespace {

// Core and memory as two state machines that move one picosecond at a time.
int64_t BruteForce(const std::vector<PipelineStep>& steps, int64_t latency,
                   int slots, int ahead) {
  const int n = static_cast<int>(steps.size());
  struct Request {
    int step;
    bool store;
    int64_t left;
  };
  std::deque<Request> queue;
  std::vector<int64_t> loaded(n, -1), stored(n, -1);
  const auto ask_load = [&](int s) {
    if (s >= n) return;
    if (steps[s].load.count() == 0) {
      loaded[s] = 0;
    } else {
      queue.push_back({s, false, steps[s].load.count()});
    }
  };
  for (int s = 0; s < ahead; ++s) ask_load(s);
  int asked = ahead - 1;  // the last step whose blocks were asked for
  int step = 0;
  int64_t computing_until = -1;
  int64_t t = 0, last = 0;
  std::vector<int> stores;  // steps that stored, in order
  const auto can_begin = [&](int s, int64_t now) {
    if (loaded[s] < 0 || loaded[s] > now) return false;
    if (steps[s].store.count() == 0) return true;
    const int before = static_cast<int>(stores.size()) - slots;
    if (before < 0) return true;
    const int64_t done = stored[stores[before]];
    return done >= 0 && done <= now;
  };
  while (true) {
    bool moved = true;
    while (moved) {
      moved = false;
      if (computing_until >= 0 && computing_until <= t) {
        computing_until = -1;
        if (steps[step].store.count() > 0) {
          queue.push_back({step, true, steps[step].store.count()});
          stores.push_back(step);
        }
        ++step;
        last = std::max(last, t);
        moved = true;
      }
      if (computing_until < 0 && step < n && asked == step + ahead - 1) {
        ask_load(++asked);
        moved = true;
      }
      if (computing_until < 0 && step < n && can_begin(step, t)) {
        computing_until = t + steps[step].compute.count();
        moved = true;
      }
    }
    if (step == n && queue.empty()) break;
    ++t;
    if (!queue.empty() && --queue.front().left == 0) {
      const Request r = queue.front();
      queue.pop_front();
      (r.store ? stored : loaded)[r.step] = t + latency;
      if (r.store) last = std::max(last, t + latency);
    }
  }
  return last;
}

TEST(DmaPipeline, EqualsABruteForceSimulation) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const int slots = 1 + random() % 3;
    const int ahead = 1 + random() % 5;
    const int64_t latency = random() % 30;
    std::vector<PipelineStep> steps;
    const int n = 1 + random() % 20;
    for (int i = 0; i < n; ++i) {
      steps.push_back({Picoseconds(random() % 3 == 0 ? 0 : random() % 40),
                       Picoseconds(random() % 50 + 1),
                       Picoseconds(random() % 3 == 0 ? random() % 40 : 0)});
    }
    DmaPipeline pipeline(Picoseconds(latency), slots, ahead);
    for (const PipelineStep& step : steps) pipeline.Step(step);
    EXPECT_EQ(pipeline.Finish().count(),
              BruteForce(steps, latency, slots, ahead))
        << "round " << round;
  }
}

TEST(DmaPipeline, TheJumpChangesNothing) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<PipelineStep> period;
    const int n = 1 + random() % 6;
    for (int i = 0; i < n; ++i) {
      period.push_back({Picoseconds(random() % 2 ? random() % 900 : 0),
                        Picoseconds(random() % 1000 + 1),
                        Picoseconds(random() % 2 ? random() % 900 : 0)});
    }
    const int64_t times = 1 + random() % 300;
    const Picoseconds latency(random() % 5000);
    const int slots = 1 + random() % 4, ahead = 1 + random() % 4;
    DmaPipeline jump(latency, slots, ahead), walk(latency, slots, ahead);
    jump.Repeat(period, times);
    for (int64_t i = 0; i < times; ++i) {
      for (const PipelineStep& step : period) walk.Step(step);
    }
    EXPECT_EQ(jump.Finish(), walk.Finish()) << "round " << round;
    EXPECT_LE(jump.computed_steps(), walk.computed_steps());
  }
}

TEST(DmaPipeline, NoneEndsBeforeItsLeastTime) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const PipelineStep step{Picoseconds(random() % 3 * (random() % 900)),
                            Picoseconds(random() % 1000),
                            Picoseconds(random() % 3 * (random() % 900))};
    const int64_t times = random() % 40;
    const Picoseconds latency(random() % 5000);
    DmaPipeline pipeline(latency);
    pipeline.Repeat({&step, 1}, times);
    EXPECT_LE(DmaPipeline::LeastTime(step, times, latency), pipeline.Finish())
        << "round " << round;
  }
}

TEST(DmaPipeline, AMillionStepsTakeFewEvaluations) {
  DmaPipeline pipeline(Picoseconds(600000));
  pipeline.Repeat(
      {{Picoseconds(80000), Picoseconds(1200000), Picoseconds(40000)}},
      1000000);
  // Load and store hide under compute: first load, steps, last store.
  EXPECT_EQ(pipeline.Finish().count(),
            80000 + 600000 + 1000000 * 1200000LL + 40000 + 600000);
  EXPECT_LT(pipeline.computed_steps(), 100);
}

TEST(DmaPipeline, AMemoryBoundLoopRunsAtTheSpeedOfMemory) {
  DmaPipeline pipeline(Picoseconds(0));
  pipeline.Repeat({{Picoseconds(100), Picoseconds(50), Picoseconds(100)}},
                  10000);
  EXPECT_NEAR(pipeline.Finish().count(), 10000 * 200, 400);
}

TEST(DmaPipeline, AShortStepWaitsForTheLatencyOfItsLoad) {
  // Two blocks are under way at any time: each takes its turn and the latency.
  DmaPipeline pipeline(Picoseconds(600));
  pipeline.Repeat({{Picoseconds(80), Picoseconds(120), Picoseconds(0)}}, 1000);
  EXPECT_NEAR(pipeline.Finish().count(), 1000 * (80 + 600 + 120) / 2.0, 800);
}

// Handing the store of a step to the memory before the load of the next step
// has been asked for would put them in the wrong order: the result would be
// load + compute + store per step.
TEST(DmaPipeline, LoadsAreAskedForBeforeTheStoreOfTheStep) {
  DmaPipeline pipeline(Picoseconds(0));
  pipeline.Repeat({{Picoseconds(100), Picoseconds(100), Picoseconds(1)}}, 1000);
  EXPECT_LT(pipeline.Finish().count(), 1000 * 110);
}

}  // namespace
}  // namespace ptxla::memory
