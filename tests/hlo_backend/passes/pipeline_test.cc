#include "hlo_backend/passes/pipeline.h"

#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/all_passes.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kTwoAdds[] = R"(HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] add(x, x)
  b = f32[8] add(x, x)
  dead = f32[8] negate(x)
  ROOT t = (f32[8], f32[8]) tuple(a, b)
}
)";

TEST(PipelineTest, RunsPassesInOrderAndReportsThem) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kTwoAdds));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("cse,dce"));
  ASSERT_OK_AND_ASSIGN(auto reports, p.Run(module.get(), {}));
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].name, "cse");
  EXPECT_TRUE(reports[0].changed);
  EXPECT_EQ(reports[1].instructions_after, 3);
}

TEST(PipelineTest, AnUnknownPassGetsANearName) {
  EXPECT_THAT(Pipeline::FromNames("dcee").status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("dce")));
}

TEST(PipelineTest, AnUnknownFieldIsRefused) {
  EXPECT_THAT(
      Pipeline::Parse("steps { pas: 'dce' }", "p.textproto").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("p.textproto")));
}

TEST(PipelineTest, AGroupStopsWhenNothingChanges) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kTwoAdds));
  ASSERT_OK_AND_ASSIGN(Pipeline p,
                       Pipeline::Parse("steps { until_stable { name: 'g' "
                                       "max_rounds: 9 passes: 'cse' } }",
                                       "p"));
  ASSERT_OK_AND_ASSIGN(auto reports, p.Run(module.get(), {}));
  EXPECT_EQ(reports.size(), 2u);  // one that changes, one that does not
}

// The argmax becomes reduces with bodies of their own; the simplifier would
// have something to do in the old one.
TEST(PipelineTest, ABodyThatNothingCallsAnyMoreIsGone) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
argmax {
  a = s32[] parameter(0)
  i = s32[] parameter(1)
  b = s32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  better = pred[] or(more, nan)
  value = s32[] select(better, a, b)
  equal = pred[] compare(a, b), direction=EQ
  earlier = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, earlier)
  mine = pred[] or(better, tie)
  index = s32[] select(mine, i, j)
  ROOT r = (s32[], s32[]) tuple(value, index)
}
ENTRY e {
  x = s32[8,128] parameter(0)
  where = s32[8,128] iota(), iota_dimension=1
  least = s32[] constant(-2147483648)
  zero = s32[] constant(0)
  ROOT r = (s32[8], s32[8]) reduce(x, where, least, zero), dimensions={1}, to_apply=argmax
}
)"));
  ASSERT_OK_AND_ASSIGN(
      Pipeline p, Pipeline::FromNames("argmax-expander,algebraic-simplifier"));
  PipelineOptions options;
  options.verify = true;
  ASSERT_OK_AND_ASSIGN(auto reports, p.Run(module.get(), {}, options));
  EXPECT_TRUE(reports[0].changed);
  for (const Computation* c : module->computations()) {
    EXPECT_NE(c->name(), "argmax");
  }
}

TEST(PipelineTest, ADisabledPassDoesNotRun) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kTwoAdds));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("cse,dce"));
  PipelineOptions options;
  options.disabled = {"cse"};
  ASSERT_OK_AND_ASSIGN(auto reports, p.Run(module.get(), {}, options));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].name, "dce");
}

TEST(PipelineTest, DisablingAnUnknownPassIsRefused) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kTwoAdds));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("cse"));
  PipelineOptions options;
  options.disabled = {"csee"};
  EXPECT_THAT(p.Run(module.get(), {}, options).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cse")));
}

TEST(PipelineTest, DumpsTheInputAndEachChange) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kTwoAdds));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("cse,cse,dce"));
  PipelineOptions options;
  std::vector<std::string> names;
  options.dump = [&](int, const std::string& name, const Module&) {
    names.push_back(name);
    return absl::OkStatus();
  };
  ASSERT_OK(p.Run(module.get(), {}, options).status());
  EXPECT_THAT(names, ::testing::ElementsAre("input", "cse", "dce"));
}

TEST(PipelineTest, AllPassesAreSortedAndDescribed) {
  std::string last;
  for (const PassEntry& entry : AllPasses()) {
    EXPECT_LT(last, std::string(entry.name));
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_EQ(entry.make()->name(), entry.name);
    last = std::string(entry.name);
  }
}

}  // namespace
}  // namespace ptxla::hlo
