// Programs that other people's compilers made, and our own training step: the
// bundles compute what the HLO means, on every kind of machine.
#include "driver/hlo_input.h"
#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using Case = std::tuple<const char*, const char*>;

class WholeProgramsTest : public ::testing::TestWithParam<Case> {};

TEST_P(WholeProgramsTest, TheBundlesComputeWhatTheHloMeans) {
  const auto& [file, slice] = GetParam();
  const auto path =
      ::ptxla::testing::SharedPath(std::string("hlo_corpus/") + file);
  if (!path.ok()) GTEST_SKIP() << path.status();
  auto input = ReadHlo(*path);
  ASSERT_TRUE(input.ok()) << input.status();
  const auto v = VerifyModule(std::move(input->module), slice);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
  EXPECT_TRUE(v->skipped.empty()) << v->skipped.front();
  EXPECT_GT(v->kernels, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, WholeProgramsTest,
    ::testing::Combine(
        ::testing::Values("openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
                          "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
                          "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
                          "torch_xla_2_9/programs/mlp_mnist_train.hlo"),
        ::testing::Values("v6e-1", "v5e-1", "v4:1x1x1")));

INSTANTIATE_TEST_SUITE_P(
    Bert, WholeProgramsTest,
    ::testing::Values(Case("torch_xla_2_9/programs/bert_2l_train.hlo",
                           "v6e-1")));

// Two layers, 128 wide, traced by our own lazy tensors: every program of the
// first three steps.
TEST(TracedStepTest, TheBundlesComputeWhatTheHloMeans) {
  RunRequest request;
  request.workload = "bert_2l";
  request.topology = "v6e-1";
  request.verify = true;
  request.assumed_effects = false;
  const auto prediction = Predict(request);
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_THAT(prediction->verifications,
              ::testing::Each(::testing::HasSubstr("kernels compared")));
  EXPECT_GE(prediction->verifications.size(), 2u);
}

}  // namespace
}  // namespace ptxla::driver
