#include "isa/verify_residents.h"

#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kWindows = 4096;

// A buffer in VMEM at `offset` that is copied to HBM; a kernel runs at position
// `call` of the schedule: 0, before; 1, while the copy is under way; 2, behind
// it.
Program WithResident(int64_t offset, int call) {
  Program p;
  p.kernels.resize(1);
  p.kernels[0].name = "kernel";
  p.kernels[0].vmem_bytes = p.scoped_vmem_bytes = kWindows;
  p.buffers = {{0, "out", 64, Space::kHbm, 0, -1, ""},
               {1, "resident", 64, Space::kVmem, offset, -1, ""}};
  p.schedule = {{{}, CopyStart{1, {1, 0}, {0, 0}, 64}}, {{}, CopyDone{1}}};
  p.schedule.insert(p.schedule.begin() + call, Op{{}, Call{}});
  return p;
}

auto IsBroken() {
  return StatusIs(
      absl::StatusCode::kInternal,
      HasSubstr("VMEM buffer 1 at 0 lives while kernel \"kernel\""));
}

TEST(VerifyResidentsTest, TheyLieAboveTheWindowsOfTheirLives) {
  EXPECT_OK(VerifyResidents(WithResident(0, 0)));
  EXPECT_OK(VerifyResidents(WithResident(0, 2)));
  EXPECT_OK(VerifyResidents(WithResident(kWindows, 1)));
  EXPECT_THAT(VerifyResidents(WithResident(0, 1)), IsBroken());
}

TEST(VerifyResidentsTest, ThoseOfALoopLieAboveItsWindows) {
  for (const int call : {0, 1, 2}) {
    Program p = WithResident(0, call);
    While loop;
    loop.body = p.schedule;
    p.schedule = {{{}, loop}};
    if (call == 1) {
      EXPECT_THAT(VerifyResidents(p), IsBroken());
    } else {
      EXPECT_OK(VerifyResidents(p));
    }
    // What lives around the loop lives in all of it.
    p.schedule.push_back({{}, CopyStart{3, {1, 0}, {0, 0}, 64}});
    p.schedule.push_back({{}, CopyDone{3}});
    EXPECT_THAT(VerifyResidents(p), IsBroken());
  }
}

TEST(VerifyResidentsTest, AnOutputLivesAllTheTime) {
  Program p = WithResident(0, 2);
  Leaf leaf;
  leaf.where = {1, 0};
  p.outputs.push_back(leaf);
  EXPECT_THAT(VerifyResidents(p), IsBroken());
}

}  // namespace
}  // namespace ptxla::isa
