#include "hlo_backend/passes/fusion/kernel_groups.h"

#include "gtest/gtest.h"

namespace ptxla::hlo {
namespace {

// `waits` waits for the first reduce of a pair, `read` is read by the other.
class KernelGroupsTest : public testing::Test {
 protected:
  KernelGroupsTest() {
    GroupKernel kernel;
    kernel.fusible = true;
    kernel.dims = {8, 128};
    kernel.members = 1;
    GroupKernel waits = kernel, read = kernel;
    waits.waits_for = {0};
    read.read_by = {0};
    waits_ = groups_.Add(nullptr, {}, waits);
    read_ = groups_.Add(nullptr, {}, read);
  }

  KernelGroups groups_{/*sums=*/true};
  int waits_ = 0, read_ = 0;
};

TEST_F(KernelGroupsTest, APairThatMayJoinIsNotHeldApart) {
  EXPECT_FALSE(groups_.Join(waits_, read_));
  EXPECT_NE(groups_.Find(waits_), groups_.Find(read_));
}

TEST_F(KernelGroupsTest, WhatWaitedForAPairThatIsNoneIsJoined) {
  EXPECT_FALSE(groups_.Join(waits_, read_));
  groups_.ForgetPairs();
  EXPECT_EQ(groups_.Find(waits_), groups_.Find(read_));
}

TEST_F(KernelGroupsTest, LaterJoinsAskForNoPairs) {
  groups_.ForgetPairs();
  EXPECT_TRUE(groups_.Join(waits_, read_));
}

}  // namespace
}  // namespace ptxla::hlo
