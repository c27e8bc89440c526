#include "hlo_backend/lowering/codegen/dependences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::codegen {
namespace {

using isa::MachineModel;

// Longest distance between every two instructions, -1: either may come first.
using Distances = std::vector<std::vector<int>>;

Distances DistancesOf(const Graph& graph, int n) {
  // A join comes before the instruction that it stands before.
  std::vector<std::pair<int, int>> order;
  const int all = static_cast<int>(graph.nodes.size());
  for (int i = 0; i < all; ++i) {
    order.push_back({i < n ? 2 * i + 1 : 2 * graph.joins[i - n], i});
  }
  std::sort(order.begin(), order.end());
  Distances result;
  for (int from = 0; from < n; ++from) {
    std::vector<int> at(all, -1);
    at[from] = 0;
    for (const auto& [key, i] : order) {
      if (at[i] < 0) continue;
      for (int e = graph.nodes[i].first_edge; e >= 0; e = graph.edges[e].next) {
        int& to = at[graph.edges[e].to];
        to = std::max(to, at[i] + graph.edges[e].cycles);
      }
    }
    at.resize(n);
    result.push_back(std::move(at));
  }
  return result;
}

struct Access {
  int base, space;
  int64_t offset;
  bool store;
};

bool Conflict(const Access& a, const Access& b) {
  return a.space == b.space && (a.store || b.store) &&
         (a.base != b.base || std::abs(a.offset - b.offset) < isa::kVregBytes);
}

Graph GraphOf(const std::vector<Access>& accesses) {
  const MachineModel model = MachineModel::Unit();
  CodeBuilder b(model);
  std::vector<Sca> bases;
  for (int k = 0; k < 4; ++k) bases.push_back(b.GlobalSca());
  const Vec value = b.GlobalVec();
  b.NewBlock("accesses");
  for (const Access& a : accesses) {
    const auto offset = static_cast<int32_t>(a.offset);
    if (a.store) {
      b.Store(a.space, bases[a.base], offset, value);
    } else {
      b.Load(a.space, bases[a.base], offset);
    }
  }
  const VNode block = b.TakeBlock();
  return BuildGraph(block.instrs, b.registers(), model, BlockMode::kFree);
}

TEST(DependencesTest, AccessesKeepTheDistancesOfEveryPairThatMayMeet) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    const int bases = 1 + below(4), places = 1 + below(12);
    const int stores = 1 + below(9);
    std::vector<Access> accesses;
    for (int i = 0; i < 60; ++i) {
      accesses.push_back({below(bases), below(10) == 0 ? 1 : 0,
                          (below(places) - 4) * int64_t{isa::kRowBytes} * 5,
                          below(10) < stores});
    }
    const int n = static_cast<int>(accesses.size());
    Distances expected(n, std::vector<int>(n, -1));
    for (int to = 0; to < n; ++to) {
      expected[to][to] = 0;
      for (int via = 0; via < to; ++via) {
        if (!Conflict(accesses[via], accesses[to])) continue;
        const int step = accesses[via].store ? 1 : 0;
        for (int from = 0; from <= via; ++from) {
          if (expected[from][via] < 0) continue;
          expected[from][to] =
              std::max(expected[from][to], expected[from][via] + step);
        }
      }
    }
    EXPECT_EQ(DistancesOf(GraphOf(accesses), n), expected) << round;
  }
}

// Edges of 1,000 such accesses in a row.
size_t EdgesOf(const std::function<Access(int)>& access) {
  std::vector<Access> accesses;
  for (int i = 0; i < 1000; ++i) accesses.push_back(access(i));
  return GraphOf(accesses).edges.size();
}

TEST(DependencesTest, EdgesOfMemoryGrowAsItsAccesses) {
  const int64_t far = isa::kVregBytes;
  // All loads, then all stores somewhere else.
  EXPECT_LE(EdgesOf([&](int i) {
              return Access{i < 500 ? 0 : 1, 0, i * far, i >= 500};
            }),
            6000);
  // An argument in place: what is loaded is stored, by another register.
  EXPECT_LE(EdgesOf([&](int i) {
              return Access{i % 2, 0, i / 2 * far, i % 2 == 1};
            }),
            6000);
  // Slots that are stored and filled again and again.
  EXPECT_LE(EdgesOf([&](int i) {
              return Access{0, 0, i % 40 * far, i / 40 % 2 == 0};
            }),
            6000);
  // Two arrays are written, a third one is read.
  EXPECT_LE(EdgesOf([&](int i) {
              return Access{i / 10 % 3, 0, i * far, i / 10 % 3 != 2};
            }),
            6000);
}

TEST(DependencesTest, EdgesOfShortTransposesGrowAsTheirNumber) {
  const MachineModel model = MachineModel::Unit();
  const auto edges = [&](int transposes) {
    CodeBuilder b(model);
    const Vec value = b.GlobalVec();
    b.NewBlock("transposes");
    for (int t = 0; t < transposes; ++t) b.Transpose({value}, 16);
    const VNode block = b.TakeBlock();
    return BuildGraph(block.instrs, b.registers(), model, BlockMode::kFree)
        .edges.size();
  };
  EXPECT_LE(edges(200), 2.1 * edges(100));
}

}  // namespace
}  // namespace ptxla::codegen
