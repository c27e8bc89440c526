// The closed forms against shards that move link by link.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "chips/topology.h"
#include "gtest/gtest.h"
#include "interconnect/closed_forms.h"
#include "interconnect/routing.h"
#include "tests/support/status_matchers.h"

namespace ptxla::ici {
namespace {

// A shard that visits chips in order, received whole before it is sent on.
struct Shard {
  std::vector<int> chips;
  double bytes = 0;
};

// Every one-way link between two chips serves shards in order of arrival.
// Returns when the last shard has reached its last chip.
double MoveShards(const std::vector<Shard>& shards, Link link) {
  struct Move {
    double arrival;
    size_t shard;
    size_t hop;
  };
  const auto later = [](const Move& a, const Move& b) {
    return std::tie(a.arrival, a.hop, a.shard) >
           std::tie(b.arrival, b.hop, b.shard);
  };
  std::vector<Move> queue;
  for (size_t s = 0; s < shards.size(); ++s) {
    if (shards[s].chips.size() > 1) queue.push_back({0, s, 0});
  }
  std::make_heap(queue.begin(), queue.end(), later);
  std::map<std::pair<int, int>, double> free;
  double end = 0;
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), later);
    Move m = queue.back();
    queue.pop_back();
    const Shard& shard = shards[m.shard];
    double& link_free = free[{shard.chips[m.hop], shard.chips[m.hop + 1]}];
    const double start = std::max(m.arrival, link_free);
    link_free = start + shard.bytes / link.w;
    m.arrival = link_free + link.t;
    end = std::max(end, m.arrival);
    if (++m.hop + 1 < shard.chips.size()) {
      queue.push_back(m);
      std::push_heap(queue.begin(), queue.end(), later);
    }
  }
  return end;
}

std::vector<int> Around(int n, int from, int step, int hops) {
  std::vector<int> chips;
  for (int i = 0; i <= hops; ++i) {
    chips.push_back(((from + step * i) % n + n) % n);
  }
  return chips;
}

constexpr Link kLink = {4.5e10, 1e-6};

TEST(LinkLevel, AnAllGatherOnALineTakesTheClosedForm) {
  for (int n = 2; n <= 16; ++n) {
    for (double V : {65536.0, 33554432.0}) {
      std::vector<Shard> shards;
      for (int i = 0; i < n; ++i) {
        Shard up{{}, V / n}, down{{}, V / n};
        for (int c = i; c < n; ++c) up.chips.push_back(c);
        for (int c = i; c >= 0; --c) down.chips.push_back(c);
        shards.push_back(up);
        shards.push_back(down);
      }
      EXPECT_NEAR(
          MoveShards(shards, kLink) / AllGatherAxis({n, false}, V, kLink), 1,
          1e-9)
          << n;
    }
  }
}

TEST(LinkLevel, AnAllGatherOnARingTakesTheBetterOfTwoWays) {
  for (int n = 3; n <= 16; ++n) {
    for (double V : {4096.0, 65536.0, 33554432.0}) {
      std::vector<Shard> halves, whole;
      for (int i = 0; i < n; ++i) {
        halves.push_back({Around(n, i, 1, n - 1), V / n / 2});
        halves.push_back({Around(n, i, -1, n - 1), V / n / 2});
        whole.push_back({Around(n, i, 1, n / 2), V / n});
        whole.push_back({Around(n, i, -1, (n - 1) / 2), V / n});
      }
      EXPECT_NEAR(
          std::min(MoveShards(halves, kLink), MoveShards(whole, kLink)) /
              AllGatherAxis({n, true}, V, kLink),
          1, 1e-9)
          << n << " " << V;
    }
  }
}

// The ring of 8 round the 2x4 mesh of v5e-8 uses links of the mesh, each once
// in each direction.
TEST(LinkLevel, TheRingRoundAMeshOf2x4HasItsLinksToItself) {
  const chips::Topology mesh = chips::ParseSlice("v5e-8")->topology;
  const std::vector<int> ring = {0, 1, 2, 3, 7, 6, 5, 4};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(Hops(mesh, ring[i], ring[(i + 1) % 8]), 1);
  }
  const double V = 640e6;
  std::vector<Shard> shards;
  for (int i = 0; i < 8; ++i) {
    for (int step : {1, -1}) {
      Shard s{{}, V / 16};
      for (int at : Around(8, i, step, 7)) s.chips.push_back(ring[at]);
      shards.push_back(s);
    }
  }
  EXPECT_NEAR(MoveShards(shards, kLink) / AllGatherAxis({8, true}, V, kLink), 1,
              1e-9);
}

// Uniform all-to-all: what the routes put on the busiest link.
TEST(LinkLevel, AnAllToAllLoadsTheBusiestLinkAsTheClosedFormSays) {
  for (const char* box : {"v5e:1x5", "v5e:1x8", "v5e:1x16", "v5e:4x8",
                          "v5e:8x16", "v4:4x4x4", "v4:4x4x8"}) {
    const chips::Topology t = chips::ParseSlice(box)->topology;
    const int n = t.num_chips();
    std::vector<std::pair<int, int>> messages;
    for (int from = 0; from < n; ++from) {
      for (int to = 0; to < n; ++to) messages.push_back({from, to});
    }
    std::vector<Axis> axes;
    for (const chips::Topology::Axis& a : t.axes()) {
      axes.push_back({a.size, a.wrap});
    }
    const double S = n * 1000.0;  // 1000 bytes from each chip to each
    EXPECT_NEAR(LoadOf(t, messages).max_messages * 1000.0 /
                    AllToAllTorus(axes, S, {1, 0}),
                1, 0.07)  // ties at half a ring do not split evenly
        << box;
  }
}

}  // namespace
}  // namespace ptxla::ici
