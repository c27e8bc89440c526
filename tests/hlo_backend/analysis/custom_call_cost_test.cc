// What calls of kernels outside of HLO cost: by their own estimate, by the name
// of a known kernel or target, or not known.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/analysis/root_cost.h"

namespace ptxla::hlo {
namespace {

TEST(CustomCallCostTest, UnknownCallsAreCountedAsUnknown) {
  EXPECT_EQ(RootCost("x = f32[8] parameter(0) ROOT r = f32[8] custom-call(x), "
                     "custom_call_target=\"f\"",
                     {})
                .unknown_ops,
            1);
}

TEST(CustomCallCostTest, APallasKernelCostsWhatItEstimates) {
  const Cost cost = RootCost(
      "p = f32[8,128]{1,0} parameter(0) ROOT c = f32[8,128]{1,0} "
      "custom-call(p), custom_call_target=\"tpu_custom_call\", "
      "backend_config={\"custom_call_config\": {\"body\": \"x\", "
      "\"cost_estimate\": {\"flops\": 3000, \"transcendentals\": 20, "
      "\"bytes_accessed\": 9000}}}",
      {});
  EXPECT_EQ(cost.flops, 3000);
  EXPECT_EQ(cost.transcendentals, 20);
  EXPECT_EQ(cost.bytes_accessed, 9000);
  EXPECT_EQ(cost.unknown_ops, 0);
}

// Two products of [2,4,64] and [2,4,32] pairs: kernels that say nothing.
TEST(CustomCallCostTest, APallasKernelWithoutAnEstimateIsKnownByItsName) {
  const auto of = [](const std::string& name) {
    return RootCost(
        absl::StrCat("q = bf16[2,4,64,16] parameter(0) k = bf16[2,4,32,16] "
                     "parameter(1) ROOT ",
                     name,
                     " = bf16[2,4,64,16] custom-call(q, k, k), "
                     "custom_call_target=\"tpu_custom_call\""),
        {});
  };
  const Cost flash = of("flash_attention.3");
  EXPECT_EQ(flash.flops, 4 * 2 * 4 * 64 * 32 * 16);
  EXPECT_EQ(flash.matmul_flops, flash.flops);
  EXPECT_EQ(flash.transcendentals, 2 * 4 * 64 * 32);
  EXPECT_EQ(of("ragged_paged_attention").unknown_ops, 0);
  EXPECT_EQ(of("ragged_paged_attention").flops, 0);
  EXPECT_EQ(of("my_kernel").unknown_ops, 1);
}

TEST(CustomCallCostTest, CustomCallsCostByTheirTarget) {
  auto of = [](const std::string& target) {
    return RootCost(
        "p = f32[2,4,4] parameter(0) ROOT c = f32[2,4,4] "
        "custom-call(p), custom_call_target=\"" +
            target + "\"",
        {});
  };
  EXPECT_EQ(of("Sharding").bytes_accessed, 0);
  EXPECT_EQ(of("MoveToHost").bytes_accessed, 2 * 128);
  EXPECT_EQ(of("Eigh").flops, 9 * 2 * 4 * 4 * 4);
  EXPECT_EQ(of("nobody knows").unknown_ops, 1);
}

}  // namespace
}  // namespace ptxla::hlo
