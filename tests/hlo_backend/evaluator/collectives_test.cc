#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

constexpr char kAdd[] = R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
)";

// Runs on four devices; device d gets {10 d, 10 d + 1, ...}.
std::vector<std::string> OnFour(const std::string& header,
                                const std::string& body, int size = 2) {
  const auto module =
      ParseModule("HloModule m, " + header + "\n" + kAdd + body);
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  std::vector<std::vector<Literal>> arguments(4);
  for (int d = 0; d < 4; ++d) {
    std::vector<float> values;
    for (int k = 0; k < size; ++k) values.push_back(10.0f * d + k);
    arguments[d].push_back(Literal::FromVector<float>({size}, values));
  }
  Evaluator evaluator(module->get());
  const auto results = evaluator.RunDevices(arguments);
  EXPECT_OK(results.status());
  std::vector<std::string> texts;
  if (!results.ok()) return texts;
  for (const Literal& result : *results) texts.push_back(result.ToString());
  return texts;
}

TEST(CollectivesTest, AllReduceSumsOverItsGroups) {
  EXPECT_THAT(
      OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=add
})"),
      ::testing::ElementsAre("{20, 22}", "{40, 42}", "{20, 22}", "{40, 42}"));
}

TEST(CollectivesTest, NoGroupsMeansAll) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={}, to_apply=add
})"),
              ::testing::Each("{60, 64}"));
}

TEST(CollectivesTest, GlobalIdsSpanReplicasAndPartitions) {
  EXPECT_THAT(
      OnFour("replica_count=2, num_partitions=2", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={{0,3},{1,2}}, to_apply=add
})"),
      ::testing::ElementsAre("{30, 32}", "{30, 32}", "{30, 32}", "{30, 32}"));
}

TEST(CollectivesTest, WithoutAChannelGroupsAreReplicasOfOnePartition) {
  EXPECT_THAT(
      OnFour("replica_count=2, num_partitions=2", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add
})"),
      ::testing::ElementsAre("{20, 22}", "{40, 42}", "{20, 22}", "{40, 42}"));
}

TEST(CollectivesTest, AllGatherJoinsInGroupOrder) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[4] all-gather(x), replica_groups={{2,0},{1,3}}, dimensions={0}
})"),
              ::testing::ElementsAre("{20, 21, 0, 1}", "{10, 11, 30, 31}",
                                     "{20, 21, 0, 1}", "{10, 11, 30, 31}"));
}

// Without groups all devices take part, and here is one.
TEST(CollectivesTest, AnAllGatherOfTooFewDevicesIsRefused) {
  const auto result =
      EvaluateText(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[16] all-gather(x), dimensions={0}
})",
                   {Literal(Shape::Array(PrimitiveType::kF32, {2}))});
  EXPECT_THAT(
      result.status().message(),
      HasSubstr("a group of 1 gives f32[2], the instruction says f32[16]"));
}

TEST(CollectivesTest, ReduceScatterKeepsOwnBlock) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[1] reduce-scatter(x), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add
})",
                     4),
              ::testing::ElementsAre("{60}", "{64}", "{68}", "{72}"));
}

TEST(CollectivesTest, AllToAllTransposesBlocks) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0}
})",
                     4),
              ::testing::ElementsAre("{0, 10, 20, 30}", "{1, 11, 21, 31}",
                                     "{2, 12, 22, 32}", "{3, 13, 23, 33}"));
}

TEST(CollectivesTest, PermuteGivesZeroToThoseWithoutASource) {
  EXPECT_THAT(
      OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] collective-permute(x), source_target_pairs={{0,1},{1,2},{3,0}}
})"),
      ::testing::ElementsAre("{30, 31}", "{0, 1}", "{10, 11}", "{0, 0}"));
}

TEST(CollectivesTest, StartAndDoneAreTheSameAsOne) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  s = f32[2] all-reduce-start(x), replica_groups={}, to_apply=add
  d = f32[2] all-reduce-done(s)
  gs = (f32[2], f32[8]) all-gather-start(d), replica_groups={}, dimensions={0}
  ROOT g = f32[8] all-gather-done(gs)
})"),
              ::testing::Each("{60, 64, 60, 64, 60, 64, 60, 64}"));
}

TEST(CollectivesTest, IdsTellDevicesApart) {
  const auto module = ParseModule(
      "HloModule m, replica_count=2, num_partitions=2\nENTRY e {\n  r = u32[] "
      "replica-id()\n  p = u32[] partition-id()\n  ROOT t = (u32[], u32[]) "
      "tuple(r, p)\n}\n");
  ASSERT_OK(module.status());
  Evaluator evaluator(module->get());
  const auto results =
      evaluator.RunDevices(std::vector<std::vector<Literal>>(4));
  ASSERT_OK(results.status());
  EXPECT_EQ((*results)[2].elements()[0].Get<uint32_t>(0), 1u);
  EXPECT_EQ((*results)[2].elements()[1].Get<uint32_t>(0), 0u);
  EXPECT_EQ((*results)[3].elements()[1].Get<uint32_t>(0), 1u);
}

// Devices leave the loop after different numbers of rounds.
TEST(CollectivesTest, LoopsMayEndAtDifferentTimes) {
  EXPECT_THAT(
      OnFour("replica_count=4", R"(
cond {
  x = f32[2] parameter(0)
  h = f32[1] slice(x), slice={[0:1]}
  s = f32[] reshape(h)
  l = f32[] constant(15)
  ROOT c = pred[] compare(s, l), direction=LT
}
body {
  x = f32[2] parameter(0)
  c = f32[] constant(7)
  b = f32[2] broadcast(c), dimensions={}
  ROOT y = f32[2] add(x, b)
}
ENTRY e {
  x = f32[2] parameter(0)
  w = f32[2] while(x), condition=cond, body=body
  ROOT y = f32[2] all-reduce(w), replica_groups={{0},{1},{2},{3}}, to_apply=add
})"),
      ::testing::ElementsAre("{21, 22}", "{17, 18}", "{20, 21}", "{30, 31}"));
}

TEST(CollectivesTest, AMissingDeviceIsAnErrorOrMirrored) {
  const std::string text =
      std::string("HloModule m, replica_count=8\n") + kAdd + R"(ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=add
})";
  const Literal x = Literal::FromVector<float>({2}, {1, 2});
  EXPECT_THAT(EvaluateText(text, {x}).status().message(),
              HasSubstr("device 1 takes part but is not evaluated"));
  EvaluatorOptions options;
  options.mirror_missing_devices = true;
  const auto result = EvaluateText(text, {x}, options);
  ASSERT_OK(result.status());
  EXPECT_EQ(result->ToString(), "{8, 16}");
}

TEST(CollectivesTest, APermuteMovesSeveralArraysTogether) {
  EXPECT_THAT(
      OnFour("replica_count=4", R"(ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] negate(x)
  ROOT r = (f32[2], f32[2]) collective-permute(x, y), source_target_pairs={{0,1},{2,0}}
})"),
      ::testing::ElementsAre("( {20, 21}, {-20, -21} )", "( {0, 1}, {-0, -1} )",
                             "( {0, 0}, {0, 0} )", "( {0, 0}, {0, 0} )"));
}

// Of a slice that is received in place the rest of the array stays.
TEST(CollectivesTest, APermuteInPlaceWritesASliceOfTheOutput) {
  EXPECT_THAT(OnFour("replica_count=4", R"(ENTRY e {
  x = f32[4] parameter(0)
  o = f32[4] constant({7, 7, 7, 7})
  i = s32[] constant(1)
  j = s32[] constant(2)
  from = (s32[]) tuple(i)
  to = (s32[]) tuple(j)
  ROOT r = f32[4] collective-permute(x, o, from, to), source_target_pairs={{0,1},{2,0}}, slice_sizes={{2}}
})",
                     4),
              ::testing::ElementsAre("{7, 7, 21, 22}", "{7, 7, 1, 2}",
                                     "{7, 7, 7, 7}", "{7, 7, 7, 7}"));
}

}  // namespace
}  // namespace ptxla::hlo
