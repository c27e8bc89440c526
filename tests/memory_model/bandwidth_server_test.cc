#include "memory_model/bandwidth_server.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace ptxla::memory {
namespace {

using Done = std::vector<BandwidthServer::Completion>;

TEST(BandwidthServer, OneStreamIsFirstInFirstOut) {
  BandwidthServer server;
  const int core = server.AddStream();
  server.Submit(Picoseconds(10), core, Picoseconds(100));
  server.Submit(Picoseconds(20), core, Picoseconds(50));
  Done done;
  server.AdvanceTo(Picoseconds(1000), &done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].time, Picoseconds(110));
  EXPECT_EQ(done[1].time, Picoseconds(160));
  EXPECT_EQ(server.busy(), Picoseconds(150));
  EXPECT_TRUE(server.idle());
}

TEST(BandwidthServer, AnIdleServerStartsAtOnce) {
  BandwidthServer server;
  const int core = server.AddStream();
  server.Submit(Picoseconds(0), core, Picoseconds(100));
  Done done;
  server.AdvanceTo(Picoseconds(500), &done);
  server.Submit(Picoseconds(500), core, Picoseconds(7));
  EXPECT_EQ(*server.NextCompletion(), Picoseconds(507));
}

TEST(BandwidthServer, TwoStreamsGetHalfEach) {
  BandwidthServer server;
  const int a = server.AddStream(), b = server.AddStream();
  server.Submit(Picoseconds(0), a, Picoseconds(100));
  server.Submit(Picoseconds(0), b, Picoseconds(30));
  Done done;
  server.AdvanceTo(Picoseconds(1000), &done);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].job, 1);
  EXPECT_EQ(done[0].time, Picoseconds(60));
  EXPECT_EQ(done[1].time, Picoseconds(130));
}

TEST(BandwidthServer, ACapLeavesTheRestToOthers) {
  BandwidthServer server;
  const int a = server.AddStream(), b = server.AddStream(0.25);
  server.Submit(Picoseconds(0), a, Picoseconds(75));
  server.Submit(Picoseconds(0), b, Picoseconds(100));
  Done done;
  server.AdvanceTo(Picoseconds(1000), &done);
  EXPECT_EQ(done[0].time, Picoseconds(100));  // 75 at three quarters
  EXPECT_EQ(done[1].time, Picoseconds(400));  // 100 at one quarter, always
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
      BandwidthServer server;
      for (int s = 0; s < 3; ++s) server.AddStream(s == 2 ? 0.4 : 1);
      Done done;
      int64_t now = 0;
      for (const Job& job : jobs) {
        if (poll > 0) {
          for (; now < job.at; now += poll) {
            server.AdvanceTo(Picoseconds(now), &done);
          }
        }
        server.AdvanceTo(Picoseconds(job.at), &done);
        now = job.at;
        server.Submit(Picoseconds(job.at), job.stream, Picoseconds(job.work));
      }
      server.AdvanceTo(Picoseconds(1 << 30), &done);
      std::vector<std::pair<int64_t, int64_t>> result;
      for (const auto& d : done) result.push_back({d.job, d.time.count()});
      return result;
    };
    EXPECT_EQ(run(0), run(97));
  }
}

TEST(BandwidthServer, WorkIsNeverServedFasterThanTheRate) {
  std::mt19937 random(11);
  BandwidthServer server;
  for (int s = 0; s < 5; ++s) server.AddStream();
  int64_t work = 0, t = 0;
  Done done;
  for (int i = 0; i < 200; ++i) {
    server.AdvanceTo(Picoseconds(t), &done);
    const int64_t w = random() % 1000 + 1;
    server.Submit(Picoseconds(t), i % 5, Picoseconds(w));
    work += w;
    t += random() % 100;
  }
  server.AdvanceTo(Picoseconds(1 << 30), &done);
  EXPECT_EQ(done.size(), 200u);
  EXPECT_GE(server.busy().count(), work);
  EXPECT_LE(server.busy().count(), work + 200);  // each end rounds up
}

// A reservation made out of order would delay an earlier request.
TEST(BandwidthServerDeathTest, RequestsMustComeInTimeOrder) {
  BandwidthServer server;
  const int core = server.AddStream();
  server.Submit(Picoseconds(100), core, Picoseconds(10));
  EXPECT_DEATH(server.Submit(Picoseconds(50), core, Picoseconds(10)),
               "time order");
}

}  // namespace
}  // namespace ptxla::memory
