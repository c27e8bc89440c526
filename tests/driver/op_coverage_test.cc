#include "driver/op_coverage.h"

#include <map>

#include "hlo_backend/evaluator/coverage.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// A new opcode without a sample fails here.
TEST(OpCoverageTest, EveryOpcodeHasASampleThatIsReadAndIsThatOpcode) {
  ASSERT_OK_AND_ASSIGN(const auto trials, OpCoverage("v5e"));
  ASSERT_EQ(trials.size(), hlo::kOpcodeCount);
  for (const OpTrial& t : trials) {
    EXPECT_EQ(t.read_error, "") << t.name << ": " << t.sample;
    EXPECT_THAT(t.sample, HasSubstr(" " + t.name + "("));
  }
}

TEST(OpCoverageTest, SaysWhatBecomesOfAnInstruction) {
  ASSERT_OK_AND_ASSIGN(const auto trials, OpCoverage("v5e"));
  std::map<std::string, OpTrial> by_name;
  for (const OpTrial& t : trials) by_name[t.name] = t;
  EXPECT_EQ(by_name["add"].tpu, OpSupport::kKernel);
  EXPECT_EQ(by_name["dot"].tpu, OpSupport::kKernel);
  EXPECT_EQ(by_name["all-reduce"].tpu, OpSupport::kSchedule);
  // A result that is a parameter is copied, block by block through VMEM.
  EXPECT_EQ(by_name["parameter"].tpu, OpSupport::kKernel);
  EXPECT_EQ(by_name["custom-call"].tpu, OpSupport::kEstimate);
  EXPECT_EQ(by_name["add"].evaluate_error, "");
  EXPECT_NE(by_name["custom-call"].evaluate_error, "");
  EXPECT_THAT(by_name["custom-call"].tpu_error, HasSubstr("custom-call"));
}

// All but what the evaluator refuses with a reason, and a custom call that
// nobody knows.
TEST(OpCoverageTest, EverySampleIsEvaluatedUnlessItReachesOutOfTheModule) {
  ASSERT_OK_AND_ASSIGN(const auto trials, OpCoverage("v5e"));
  for (const OpTrial& t : trials) {
    if (t.name == "custom-call") continue;
    const auto opcode = hlo::OpcodeFromName(t.name);
    ASSERT_TRUE(opcode.has_value());
    EXPECT_THAT(t.evaluate_error, HasSubstr(hlo::WhyNotEvaluated(*opcode)));
    EXPECT_EQ(t.evaluate_error.empty(), hlo::WhyNotEvaluated(*opcode).empty())
        << t.name << ": " << t.evaluate_error;
  }
}

TEST(OpCoverageTest, OneOpcodeIsTriedAloneAndAnUnknownOneIsSuggested) {
  ASSERT_OK_AND_ASSIGN(const auto trials, OpCoverage("v6e", "exponential"));
  ASSERT_EQ(trials.size(), 1);
  EXPECT_EQ(trials[0].sample, "f32[8,128] exponential(p0)");
  EXPECT_THAT(OpCoverage("v6e", "exponentail").status(),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("did you mean \"exponential\"")));
}

}  // namespace
}  // namespace ptxla::driver
