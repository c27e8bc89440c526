#include "isa/cycle_causes.h"

#include "isa/asm.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

class CycleCausesTest : public ::testing::Test {
 protected:
  CycleCausesTest() {
    machine_.SetSlots(Slot::kVector, 2);
    machine_.branch_delay_slots = 3;
  }
  Code Parse(const std::string& text) {
    auto code = ParseCode(text);
    EXPECT_OK(code);
    return code.ok() ? *code : Code();
  }
  CodeAccount Account(const Code& code) {
    const CodeAccount a = AccountOf(code, machine_, vector_);
    EXPECT_EQ(a.total.Total(), ProfileCode(code, machine_).cycles);
    return a;
  }

  MachineModel machine_ = MachineModel::Unit();
  const MainUnit vector_{ExecUnit::kNone, Slot::kVector};
};

TEST_F(CycleCausesTest, ABlocksFirstAndLastUsePartItsIdleCycles) {
  const Code code = Parse(R"(
    block "body" {
      { v1 = vld [s1] }
      { nop 2 }
      { v2 = vadd.f32 v1, v1 }
      { nop 4 }
      { v3 = vadd.f32 v2, v2 }
      { vst [s1], v3 }
    })");
  const CycleCauses c = Account(code).total;
  EXPECT_EQ(c[CycleCause::kFill], 3);
  EXPECT_EQ(c[CycleCause::kWork], 2);
  EXPECT_EQ(c[CycleCause::kResults], 4);
  EXPECT_EQ(c[CycleCause::kDrain], 1);
}

TEST_F(CycleCausesTest, AFullSlotBetweenUsesIsNamed) {
  machine_.SetSlots(Slot::kLoad, 1);
  const Code code = Parse(R"(
    block "body" {
      { v2 = vadd.f32 v1, v1 }
      { v4 = vld [s1] }
      { v3 = vadd.f32 v2, v4 }
    })");
  const CycleCauses c = Account(code).total;
  EXPECT_EQ(c[CycleCause::kIssue], 1);
  EXPECT_EQ(c.issue[static_cast<int>(Slot::kLoad)], 1);
}

TEST_F(CycleCausesTest, BlocksWithoutTheUnitAreOtherWorkOrControl) {
  const Code code = Parse(R"(
    block "addresses" { { s1 = swin w0 } }
    block "pad" { { nop 7 } }
    block "copy" {
      { v1 = vld [s1] }
      { vst [s1], v1 }
    }
    block "body" { { v2 = vadd.f32 v1, v1 } })");
  const CycleCauses c = Account(code).total;
  EXPECT_EQ(c[CycleCause::kControl], 8);
  EXPECT_EQ(c[CycleCause::kOther], 2);
  EXPECT_EQ(c[CycleCause::kWork], 1);
}

TEST_F(CycleCausesTest, ALoopShorterThanItsBranchPaysTheBranch) {
  const Code code = Parse(R"(
    loop s5 step 4 times 10 {
      block "body" { { v2 = vadd.f32 v1, v1 } }
    })");
  const CodeAccount a = Account(code);
  EXPECT_EQ(a.total[CycleCause::kWork], 10);
  EXPECT_EQ(a.total[CycleCause::kControl], 30);
  ASSERT_EQ(a.parts.size(), 1);
  EXPECT_EQ(a.parts[0].times, 10);
  EXPECT_EQ(a.parts[0].depth, 1);
}

TEST_F(CycleCausesTest, TheBusiestUnitIsTheMainOne) {
  const Code code = Parse(R"(
    block "body" {
      { v2 = vadd.f32 v1, v1 ; v3 = vadd.f32 v1, v1 }
      { v4 = vld [s1] }
      { v5 = vld [s1] }
    })");
  machine_.SetSlots(Slot::kLoad, 1);
  EXPECT_EQ(MainUnitOf(ProfileCode(code, machine_), machine_).Name(),
            "load slots");
  machine_.SetSlots(Slot::kLoad, 4);
  EXPECT_EQ(MainUnitOf(ProfileCode(code, machine_), machine_).Name(),
            "vector ALUs");
}

}  // namespace
}  // namespace ptxla::isa
