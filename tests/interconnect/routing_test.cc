#include "interconnect/routing.h"

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::ici {
namespace {

chips::Topology Box(absl::string_view name) {
  return chips::ParseSlice(name)->topology;
}

TEST(Routing, HopsAreTheManhattanDistanceOnAMesh) {
  const chips::Topology mesh = Box("v5e-16");  // 4x4
  EXPECT_EQ(Hops(mesh, 0, 15), 6);
  EXPECT_EQ(Hops(mesh, 5, 5), 0);
  EXPECT_EQ(Hops(mesh, 0, 3), 3);
}

TEST(Routing, AWrapShortensTheWay) {
  const chips::Topology torus = Box("v5e-256");  // 16x16
  EXPECT_EQ(Hops(torus, 0, 15), 1);
  EXPECT_EQ(Hops(torus, 0, 16 * 15 + 15), 2);
  EXPECT_EQ(Hops(torus, 0, 8), 8);
}

TEST(Routing, EachLinkStartsWhereTheLastOneEnds) {
  const chips::Topology torus = Box("v4-128");
  for (int to = 0; to < 64; ++to) {
    std::vector<int> at = torus.Coordinates(9);
    for (const LinkId& link : Route(torus, 9, to)) {
      EXPECT_EQ(torus.ChipAt(at), link.chip);
      at[link.axis] = (at[link.axis] + (link.up ? 1 : 3)) % 4;
    }
    EXPECT_EQ(torus.ChipAt(at), to);
  }
}

TEST(Routing, NeighboursInARingShareNoLink) {
  const chips::Topology torus = Box("v5e:16x1");
  std::vector<std::pair<int, int>> messages;
  for (int i = 0; i < 16; ++i) messages.push_back({i, (i + 1) % 16});
  const LinkLoad load = LoadOf(torus, messages);
  EXPECT_EQ(load.max_messages, 1);
  EXPECT_EQ(load.max_hops, 1);
}

TEST(Routing, ALineCarriesTheWayBackInTheOtherDirection) {
  const chips::Topology line = Box("v5e:1x4");
  const LinkLoad load = LoadOf(line, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
  EXPECT_EQ(load.max_messages, 1);
  EXPECT_EQ(load.max_hops, 3);
}

// The bisection of a 16x16 torus: 2 x 16 links each way.
TEST(Routing, UniformTrafficLoadsTheBisectionEvenly) {
  const chips::Topology torus = Box("v5e-256");
  std::vector<std::pair<int, int>> messages;
  for (int from = 0; from < 256; ++from) {
    for (int to = 0; to < 256; ++to) messages.push_back({from, to});
  }
  // Per axis n^2/8 messages on each of the two links of a chip and per row of
  // 16: n^2/8 * 16 = 512, plus ties.
  EXPECT_NEAR(LoadOf(torus, messages).max_messages, 512, 64);
}

}  // namespace
}  // namespace ptxla::ici
