// Every cycle of an op has one cause, and the tiles are those of the lowering.
#include "driver/explain/explain.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "driver/hlo_input.h"
#include "driver/prediction.h"
#include "driver/program_record.h"
#include "driver/stage.h"
#include "driver/timed_program.h"
#include "reports/explanation.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

constexpr char kLayer[] = R"(HloModule layer

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY layer {
  a = bf16[1000,512] parameter(0)
  w = bf16[512,1024] parameter(1)
  b = f32[1000,1024] parameter(2)
  d = bf16[1000,1024] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[1000,1024] convert(d)
  e = f32[1000,1024] exponential(b)
  f = f32[1000,1024] add(c, e)
  z = f32[] constant(0)
  ROOT r = f32[1000] reduce(f, z), dimensions={1}, to_apply=sum
}
)";

class ExplainTest : public ::testing::Test {
 protected:
  absl::StatusOr<Prediction> Run(const std::string& hlo,
                                 const std::string& topology,
                                 const std::string& op) {
    RunRequest request;
    request.hlo = ::testing::TempDir() + "/explain_test.hlo";
    EXPECT_OK(WriteFile(request.hlo, hlo));
    request.topology = topology;
    request.explain = op;
    request.assumed_effects = false;
    return Predict(request);
  }
  static int64_t Sum(const record::Explanation& e) {
    int64_t sum = 0;
    for (const record::Loss& l : e.losses()) sum += l.cycles();
    return sum;
  }
};

TEST_F(ExplainTest, TheCausesOfEveryKernelSumToItsTime) {
  for (const char* topology : {"v6e-1", "v5e-1", "v4-8", "tpu7x-1", "v2-8"}) {
    // Any op first, then each by its name.
    const auto first = Run(kLayer, topology, "d");
    ASSERT_OK(first) << topology;
    int kernels = 0;
    for (const record::OpRecord& op : first->record.programs(0).ops()) {
      const auto p = Run(kLayer, topology, op.name());
      ASSERT_OK(p) << topology << " " << op.name();
      const record::Explanation& e = *p->explanation;
      EXPECT_EQ(e.op(), op.name());
      EXPECT_EQ(e.time_ps() * e.executions(), e.total_ps());
      if (e.kernel().empty()) continue;
      ++kernels;
      EXPECT_EQ(Sum(e), e.cycles()) << topology << " " << op.name();
      std::set<std::string> causes;
      for (const record::Loss& l : e.losses()) {
        EXPECT_TRUE(causes.insert(l.cause()).second) << l.cause();
        if (l.cause() == "overlap") continue;
        EXPECT_GT(l.cycles(), 0) << l.cause();
      }
    }
    EXPECT_GT(kernels, 0) << topology;
  }
}

// Every family of kernels, on one core and on two.
TEST_F(ExplainTest, EveryOpOfATrainingStepSums) {
  const auto file = ::ptxla::testing::SharedPath(
      "hlo_corpus/torch_xla_2_9/programs/bert_2l_train.hlo");
  if (!file.ok()) GTEST_SKIP() << file.status();
  for (const char* topology : {"v5e-1", "v4-8"}) {
    const auto slice = chips::ParseSlice(topology);
    ASSERT_OK(slice);
    auto input = ReadHlo(*file);
    ASSERT_OK(input);
    auto program = TimedProgram::Compile(*slice, std::move(input->module),
                                         Residency::kHbm, {});
    ASSERT_OK(program);
    const auto trace = program->Trace();
    ASSERT_OK(trace);
    const record::ProgramRecord record = MakeProgramRecord(*trace, *slice);
    std::set<std::string> seen;  // kernels
    for (const record::OpRecord& op : record.ops()) {
      const auto e = ExplainOp(
          {*slice, program->module(), {}, program->program(), *trace, record},
          op.name());
      ASSERT_OK(e) << topology << " " << op.name();
      if (e->kernel().empty() || !seen.insert(e->kernel()).second) continue;
      EXPECT_EQ(Sum(*e), e->cycles()) << topology << " " << op.name();
      EXPECT_FALSE(reports::ExplanationText(*e).empty());
    }
    EXPECT_GT(seen.size(), 50u) << topology;
  }
}

TEST_F(ExplainTest, AnInstructionInsideOfAFusionStandsForTheFusion) {
  const auto p = Run(kLayer, "v6e-1", "%e");
  ASSERT_OK(p);
  EXPECT_NE(p->explanation->op(), "e");
  EXPECT_THAT(p->explanation->found(), HasSubstr("e is inside of "));
}

TEST_F(ExplainTest, AnUnknownNameNamesTheNearestOnOneLine) {
  const auto p = Run(kLayer, "v6e-1", "fusio");
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(ExitCode(p.status()), kExitUsage);
  EXPECT_THAT(std::string(p.status().message()), HasSubstr("nearest: "));
  EXPECT_EQ(p.status().message().find('\n'), absl::string_view::npos);
}

TEST_F(ExplainTest, TheChosenTilesAreTheCheapestThatWereTried) {
  const auto p = Run(kLayer, "v6e-1", "d");
  ASSERT_OK(p);
  const record::Explanation& e = *p->explanation;
  ASSERT_GT(e.tilings_size(), 1);
  EXPECT_GE(e.tilings_considered(), e.tilings_size());
  const auto chosen = std::find_if(e.tilings().begin(), e.tilings().end(),
                                   [](const auto& t) { return t.chosen(); });
  ASSERT_TRUE(chosen != e.tilings().end());
  EXPECT_THAT(e.note(), HasSubstr(chosen->what()));
  for (const record::ExplainedTiling& t : e.tilings()) {
    if (!t.refused().empty()) continue;
    EXPECT_GE(t.cost_cycles(), chosen->cost_cycles());
  }
}

// A ragged M: 1000 rows in blocks that are multiples of 8 or 16.
TEST_F(ExplainTest, PaddingIsWhatTheMxuDoesBeyondTheFlops) {
  const auto p = Run(R"(HloModule m
ENTRY e {
  a = bf16[1000,130] parameter(0)
  b = bf16[130,1024] parameter(1)
  ROOT d = bf16[1000,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                     "v5e-1", "d");
  ASSERT_OK(p);
  const record::Explanation& e = *p->explanation;
  EXPECT_EQ(e.main_unit(), "MXU");
  int64_t useful = 0, padding = 0;
  for (const record::Loss& l : e.losses()) {
    if (l.cause() == "useful") useful = l.cycles();
    if (l.cause() == "padding") padding = l.cycles();
  }
  // Four 128x128 MXUs, one row a cycle each.
  EXPECT_EQ(useful, 1000ll * 130 * 1024 / (4 * 128 * 128));
  // K is padded from 130 to 256.
  EXPECT_NEAR(static_cast<double>(useful + padding) / useful, 256.0 / 130,
              0.05);
}

TEST_F(ExplainTest, ThePageHasItsPartsAndTheJsonItsListings) {
  const auto p = Run(kLayer, "v6e-1", "d");
  ASSERT_OK(p);
  const std::string text = reports::ExplanationText(*p->explanation);
  for (const char* part :
       {"where it goes", "useful", "total", "utilisation",
        "tiles:", "loop nest", "entry", "exit", "longest block"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  const std::string json = reports::ExplanationJson(*p->explanation);
  EXPECT_THAT(json, HasSubstr("\"listing\""));
  EXPECT_THAT(json, HasSubstr("vmatmul"));
}

TEST_F(ExplainTest, ARooflineHasNoKernelsToExplain) {
  RunRequest request;
  request.hlo = ::testing::TempDir() + "/explain_test.hlo";
  ASSERT_OK(WriteFile(request.hlo, kLayer));
  request.topology = "v6e-1";
  request.fidelity = "roofline";
  request.explain = "d";
  const auto p = Predict(request);
  EXPECT_EQ(p.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ptxla::driver
