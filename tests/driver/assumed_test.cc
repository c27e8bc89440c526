#include "driver/assumed.h"

#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using chips::ChipSpec;

// A step of 1 s that takes `part` of it per second of one number's inverse:
// bandwidth-bound, say.
class AssumedTest : public ::testing::Test {
 protected:
  AssumedTest() : chip_(ChipSpec::Load("v5e").value()) {
    in_.chip = &chip_;
    in_.step = Picoseconds(1000000);
    in_.bounds.set_hbm_ps(600000);
    in_.bounds.set_mxu_ps(400000);
    // Depends on the efficiency of HBM reads and on nothing else.
    in_.step_time =
        [this](const ChipSpec& chip,
               const runtime::HostCosts*) -> absl::StatusOr<Picoseconds> {
      ++simulations_;
      const double ratio =
          chip_.hbm().efficiency_read / chip.hbm().efficiency_read;
      return Picoseconds(400000 + 600000 * ratio);
    };
  }
  ChipSpec chip_;
  AssumedInputs in_;
  int simulations_ = 0;
};

TEST_F(AssumedTest, OnlyNumbersThatMoveTheStepAreListed) {
  ASSERT_OK_AND_ASSIGN(const auto list, AssumedNumbers(in_));
  ASSERT_EQ(list.size(), 1);
  EXPECT_EQ(list[0].name(), "hbm.efficiency_read");
  // 20 % less efficiency: 600 ns become 750 ns.
  EXPECT_EQ(list[0].effect_ps(), 150000);
}

TEST_F(AssumedTest, NoMoreThanTenAreSimulated) {
  ASSERT_OK(AssumedNumbers(in_).status());
  EXPECT_LE(simulations_, kAssumedSimulated);
  EXPECT_GT(simulations_, 1);
}

TEST_F(AssumedTest, WhatBoundsNothingIsNotSimulated) {
  in_.bounds.clear_hbm_ps();
  in_.bounds.set_mxu_ps(1000000);
  ASSERT_OK_AND_ASSIGN(const auto list, AssumedNumbers(in_));
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(simulations_, 0);
}

TEST_F(AssumedTest, HostNumbersCountWhenTheHostIsInTheAnswer) {
  ASSERT_OK_AND_ASSIGN(const auto host, runtime::HostCosts::For(chip_));
  in_.host = &host;
  in_.bounds.Clear();
  in_.bounds.set_input_ps(1000000);
  in_.step_time =
      [&](const ChipSpec&,
          const runtime::HostCosts* h) -> absl::StatusOr<Picoseconds> {
    return Picoseconds(1000000 +
                       (h->transfer_issue - host.transfer_issue).count());
  };
  ASSERT_OK_AND_ASSIGN(const auto list, AssumedNumbers(in_));
  ASSERT_EQ(list.size(), 1);
  EXPECT_EQ(list[0].name(), "host.transfer_issue");
  EXPECT_EQ(list[0].effect_ps(), host.transfer_issue.count() / 5);
}

}  // namespace
}  // namespace ptxla::driver
