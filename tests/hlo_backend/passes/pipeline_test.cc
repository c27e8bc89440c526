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
