#include "hlo_backend/compiler/kernel_windows.h"

#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kMiB = 1 << 20;

// `large` and `small` lie in VMEM, one after the other. %first reads neither.
constexpr char kTwo[] = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[120,128,2048]{2,1,0:T(8,128)} parameter(0)
  first = f32[120,128,2048]{2,1,0:T(8,128)} negate(p)
  large = f32[120,128,2048]{2,1,0:T(8,128)S(1)} negate(first)
  sum = f32[8,128]{1,0:T(8,128)S(1)} custom-call(large), custom_call_target="f"
  ROOT r = f32[8,128]{1,0:T(8,128)} negate(sum)
}
)";

class KernelWindowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = ParseModule(kTwo);
    ASSERT_OK(module.status());
    module_ = *std::move(module);
    for (const char* name : {"p", "r"}) windows_.Set(name, 0);
    windows_.Set("first", 16 * kMiB);
    windows_.Set("large", 4 * kMiB);
    windows_.Set("sum", 8 * kMiB);
  }

  // Offset of a buffer; -1: it has to leave VMEM.
  int64_t OffsetOf(const std::string& name) {
    const auto memory = PlanBuffers(*module_, chip_, windows_);
    EXPECT_OK(memory.status());
    for (const auto& [value, leaf] : memory->vmem_overflow) {
      if (value->name() == name) return -1;
    }
    for (const PlannedBuffer& b : memory->plan.buffers) {
      if (b.name == name) return b.offset;
    }
    return -2;
  }

  const chips::ChipSpec chip_ = *chips::ChipSpec::Load("v5e");
  std::unique_ptr<Module> module_;
  KernelWindows windows_{chip_};
};

TEST_F(KernelWindowsTest, ResidentsLieAboveTheWindowsOfTheirLives) {
  EXPECT_EQ(OffsetOf("large"), 8 * kMiB);
}

TEST_F(KernelWindowsTest, WhatFindsLargerWindowsHasToLeave) {
  windows_.Set("sum", 9 * kMiB);
  EXPECT_EQ(OffsetOf("large"), -1);
}

TEST_F(KernelWindowsTest, AKernelThatIsNotMadeHasTheScopedLimit) {
  KernelWindows unknown(chip_);
  EXPECT_EQ(unknown.Of(*module_->entry()->root()), 16 * kMiB);
  EXPECT_FALSE(windows_.Raise(KernelWindows(chip_)));
  unknown.Set("sum", 12 * kMiB);
  EXPECT_TRUE(windows_.Raise(unknown));
  EXPECT_FALSE(windows_.Raise(unknown));
  EXPECT_EQ(OffsetOf("large"), -1);
}

}  // namespace
}  // namespace ptxla::hlo
