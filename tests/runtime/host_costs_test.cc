#include "runtime/host_costs.h"

#include "tests/support/status_matchers.h"

namespace ptxla::runtime {
namespace {

using ::testing::Not;

TEST(HostCostsTest, EveryNumberHasASource) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(const HostCosts costs, HostCosts::For(chip));
  for (const HostCosts::Number& n : costs.numbers) {
    EXPECT_FALSE(n.source.empty()) << n.key;
    EXPECT_NE(n.confidence, chips::CONFIDENCE_UNSPECIFIED) << n.key;
  }
}

TEST(HostCostsTest, AChipFileGoesBeforeTheDefault) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(
      const chips::ChipSpec other,
      chips::ChipSpec::Parse(
          chip.ToText() + "number { key: 'host.launch' value: 50 unit: 'us' "
                          "confidence: ASSUMED source: 'test' }",
          "test"));
  ASSERT_OK_AND_ASSIGN(const HostCosts costs, HostCosts::For(other));
  EXPECT_EQ(costs.launch, FromSeconds(50e-6));
}

TEST(HostCostsTest, AMisspeltCostInAChipFileIsRefused) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(
      const chips::ChipSpec other,
      chips::ChipSpec::Parse(
          chip.ToText() + "number { key: 'host.slownes' value: 2 unit: 'ratio' "
                          "confidence: ASSUMED source: 'test' }",
          "test"));
  EXPECT_THAT(HostCosts::For(other).status(),
              ptxla::testing::StatusIs(
                  absl::StatusCode::kInvalidArgument,
                  ::testing::HasSubstr("did you mean \"host.slowness\"")));
}

TEST(HostCostsTest, ScalingMovesOneNumber) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(const HostCosts costs, HostCosts::For(chip));
  ASSERT_OK_AND_ASSIGN(const HostCosts scaled,
                       costs.WithScaled("host.launch", 2));
  EXPECT_EQ(scaled.launch, costs.launch * 2);
  EXPECT_EQ(scaled.works, costs.works);
  EXPECT_THAT(costs.WithScaled("host.nothing", 2), Not(ptxla::testing::IsOk()));
}

TEST(HostCostsTest, ASlowerProcessorStretchesTracingAndNothingElse) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(const HostCosts costs, HostCosts::For(chip));
  ASSERT_OK_AND_ASSIGN(const HostCosts slow,
                       costs.WithScaled("host.slowness", 2));
  for (HostWork work : {HostWork::kCall, HostWork::kRecordedCall,
                        HostWork::kEngineCall, HostWork::kPythonMeta}) {
    EXPECT_EQ(slow.work(work), costs.work(work) * 2);
  }
  EXPECT_EQ(slow.launch, costs.launch);
  EXPECT_EQ(slow.pcie.count(), costs.pcie.count());
}

}  // namespace
}  // namespace ptxla::runtime
