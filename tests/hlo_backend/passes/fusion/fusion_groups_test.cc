#include "hlo_backend/passes/fusion/fusion_groups.h"

#include "gtest/gtest.h"

namespace ptxla::hlo {
namespace {

TEST(FusionGroupsTest, DependencesRise) {
  FusionGroups g;
  const int a = g.Add({}), b = g.Add({{a, false}}), c = g.Add({{b, false}});
  EXPECT_LT(g.level(a), g.level(b));
  EXPECT_LT(g.level(b), g.level(c));
}

TEST(FusionGroupsTest, NeighboursMerge) {
  FusionGroups g;
  const int a = g.Add({}), b = g.Add({{a, false}});
  EXPECT_TRUE(g.Merge(a, b));
  EXPECT_EQ(g.Find(a), g.Find(b));
}

TEST(FusionGroupsTest, AGroupBetweenTwoKeepsThemApart) {
  FusionGroups g;
  const int a = g.Add({}), between = g.Add({{a, false}}),
            b = g.Add({{a, false}, {between, false}});
  EXPECT_FALSE(g.Merge(a, b));
  EXPECT_NE(g.Find(a), g.Find(b));
}

TEST(FusionGroupsTest, ALongWayBetweenTwoKeepsThemApart) {
  FusionGroups g;
  const int a = g.Add({});
  int last = a;
  for (int k = 0; k < 20; ++k) last = g.Add({{last, false}});
  const int b = g.Add({{a, false}, {last, false}});
  EXPECT_FALSE(g.Merge(a, b));
}

TEST(FusionGroupsTest, AnEarlyGroupMayRunLater) {
  FusionGroups g;
  const int early = g.Add({});
  int last = g.Add({});
  for (int k = 0; k < 5; ++k) last = g.Add({{last, false}});
  const int reader = g.Add({{early, false}});
  ASSERT_TRUE(g.Merge(early, last));
  EXPECT_GT(g.level(reader), g.level(early));
}

TEST(FusionGroupsTest, ARefusedMergeChangesNothing) {
  FusionGroups g;
  const int a = g.Add({}), between = g.Add({{a, false}}),
            b = g.Add({{a, false}, {between, false}});
  const int level_a = g.level(a), level_between = g.level(between);
  ASSERT_FALSE(g.Merge(a, b));
  EXPECT_EQ(g.level(a), level_a);
  EXPECT_EQ(g.level(between), level_between);
}

TEST(FusionGroupsTest, ACycleThroughAMergedGroupIsSeen) {
  FusionGroups g;
  // a -> x -> b, and a2 merged with a: x still lies between.
  const int a = g.Add({}), a2 = g.Add({});
  const int x = g.Add({{a, false}}), b = g.Add({{x, false}, {a2, false}});
  ASSERT_TRUE(g.Merge(a, a2));
  EXPECT_FALSE(g.Merge(a2, b));
}

TEST(FusionGroupsTest, AHardDependenceKeepsTwoApart) {
  FusionGroups g;
  const int a = g.Add({}), b = g.Add({{a, true}});
  EXPECT_FALSE(g.Merge(a, b));
}

TEST(FusionGroupsTest, AHardDependenceOnAMemberKeepsTwoApart) {
  FusionGroups g;
  const int a = g.Add({}), reduce = g.Add({{a, false}});
  ASSERT_TRUE(g.Merge(a, reduce));
  const int b = g.Add({{a, false}, {reduce, true}});
  EXPECT_FALSE(g.Merge(a, b));
}

}  // namespace
}  // namespace ptxla::hlo
