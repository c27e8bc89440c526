#include "memory_model/bandwidth_server.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace ptxla::memory {
namespace {

using Done = std::vector<BandwidthServer::Completion>;

TEST(BandwidthServer, OneStreamIsFirstInFirstOut) {
  BandwidthServer server(1);
  const int core = 0;
  server.Submit(10, core, 100);
  server.Submit(20, core, 50);
  Done done;
  server.AdvanceTo(1000, &done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].time, 110);
  EXPECT_EQ(done[1].time, 160);
  EXPECT_EQ(server.busy(), 150);
  EXPECT_TRUE(server.idle());
}

TEST(BandwidthServer, AnIdleServerStartsAtOnce) {
  BandwidthServer server(1);
  const int core = 0;
  server.Submit(0, core, 100);
  Done done;
  server.AdvanceTo(500, &done);
  server.Submit(500, core, 7);
  EXPECT_EQ(*server.NextCompletion(), 507);
}

TEST(BandwidthServer, TwoStreamsGetHalfEach) {
  BandwidthServer server(2);
  const int a = 0, b = 1;
  server.Submit(0, a, 100);
  server.Submit(0, b, 30);
  Done done;
  server.AdvanceTo(1000, &done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].job, 1);
  EXPECT_EQ(done[0].time, 60);
  EXPECT_EQ(done[1].time, 130);
}

TEST(BandwidthServer, ACapLeavesTheRestToOthers) {
  BandwidthServer server(2);
  const int a = 0, b = 1;
  server.Submit(0, a, 75);
  server.Submit(0, b, 100, BandwidthServer::RateOf(0.25));
  Done done;
  server.AdvanceTo(1000, &done);
  EXPECT_EQ(done[0].time, 100);  // 75 at three quarters
  EXPECT_EQ(done[1].time, 400);  // 100 at one quarter, always
}

TEST(BandwidthServer, AskingMoreOftenChangesNothing) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    struct Job {
      int64_t at, work;
      int stream;
    };
    std::vector<Job> jobs;
    int64_t t = 0;
    for (int i = 0; i < 40; ++i) {
      t += random() % 3000;
      jobs.push_back({t, static_cast<int64_t>(random() % 5000 + 1),
                      static_cast<int>(random() % 3)});
    }
    const auto run = [&](int64_t poll) {
      BandwidthServer server(3);
      Done done;
      int64_t now = 0;
      for (const Job& job : jobs) {
        if (poll > 0) {
          for (; now < job.at; now += poll) {
            server.AdvanceTo(now, &done);
          }
        }
        server.AdvanceTo(job.at, &done);
        now = job.at;
        server.Submit(job.at, job.stream, job.work,
                      BandwidthServer::RateOf(job.stream == 2 ? 0.4 : 1));
      }
      server.AdvanceTo(1 << 30, &done);
      std::vector<std::pair<int64_t, int64_t>> result;
      for (const auto& d : done) result.push_back({d.job, d.time});
      return result;
    };
    EXPECT_EQ(run(0), run(97));
  }
}

TEST(BandwidthServer, WorkIsNeverServedFasterThanTheRate) {
  std::mt19937 random(11);
  BandwidthServer server(5);
  int64_t work = 0, t = 0;
  Done done;
  for (int i = 0; i < 200; ++i) {
    server.AdvanceTo(t, &done);
    const int64_t w = random() % 1000 + 1;
    server.Submit(t, i % 5, w);
    work += w;
    t += random() % 100;
  }
  server.AdvanceTo(1 << 30, &done);
  EXPECT_EQ(done.size(), 200u);
  EXPECT_GE(server.busy(), work);
  EXPECT_LE(server.busy(), work + 200);  // each end rounds up
}

// A reservation made out of order would delay an earlier request.
TEST(BandwidthServerDeathTest, RequestsMustComeInTimeOrder) {
  BandwidthServer server(1);
  const int core = 0;
  server.Submit(100, core, 10);
  EXPECT_DEATH(server.Submit(50, core, 10), "time order");
}

}  // namespace
}  // namespace ptxla::memory
