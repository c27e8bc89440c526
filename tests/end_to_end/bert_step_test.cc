// Does the traced BERT step hold the work that the model has, and take the time
// that the same model takes as another front end traced it?

#include "driver/prediction.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

// Floating-point operations of the products of a pre-training step: forward,
// and twice as many backward. `tokens` T and `sequences` per chip.
double PretrainingFlops(double layers, double h, double s, double vocabulary,
                        double tokens, double sequences) {
  return 3 * (layers * tokens * (24 * h * h + 4 * s * h) +
              tokens * (2 * h * h + 2 * h * vocabulary) +
              sequences * (2 * h * h + 4 * h));
}

RunRequest Request(const std::string& topology) {
  RunRequest r;
  r.topology = topology;
  r.assumed_effects = false;
  r.prove = true;
  return r;
}

TEST(BertStepTest, TheStepOfBertLargeHoldsTheProductsOfTheModel) {
  RunRequest request = Request("v5e-8");
  request.workload = "bert";
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request));
  const double expected = PretrainingFlops(24, 1024, 128, 30522, 4096, 32);
  EXPECT_NEAR(expected, 8.370e12, 0.001e12);
  const auto actual =
      static_cast<double>(p.record.matmul_flops_per_step_per_chip());
  EXPECT_NEAR(actual / expected, 1.0, 0.005);
  EXPECT_NEAR(
      static_cast<double>(p.record.model_flops_per_step_per_chip()) / expected,
      1.0, 0.005);
}

// The 2-layer model with the configuration that real torch_xla traced.
TEST(BertStepTest, OurTraceAndTorchXlasTakeTheSameTime) {
  const auto hlo = ::ptxla::testing::SharedPath(
      "hlo_corpus/torch_xla_2_9/programs/bert_2l_train.hlo");
  if (!hlo.ok()) GTEST_SKIP() << hlo.status();
  RunRequest request = Request("v5e-1");
  request.workload = "bert_2l";
  ASSERT_OK_AND_ASSIGN(const Prediction ours, Predict(request));
  request.workload.clear();
  request.hlo = *hlo;
  ASSERT_OK_AND_ASSIGN(const Prediction theirs, Predict(request));
  const auto mine = static_cast<double>(ours.record.device_time_ps());
  const auto real = static_cast<double>(theirs.record.device_time_ps());
  EXPECT_NEAR(mine / real, 1.0, 0.05) << mine << " ps against " << real;
  EXPECT_EQ(ours.record.matmul_flops_per_step_per_chip(),
            theirs.record.matmul_flops_per_step_per_chip());
}

// Shapes of the full model: registers, memory and arrays of every generation
// suffice for its kernels.
TEST(BertStepTest, ALayerOfBertLargeRunsOnEveryChip) {
  for (const char* topology :
       {"v2-8", "v3-8", "v4-8", "v5e-8", "v5p-8", "v6e-8", "tpu7x-8"}) {
    RunRequest request = Request(topology);
    request.workload = "bert";
    request.settings = {"layers=1"};
    const auto prediction = Predict(request);
    ASSERT_TRUE(prediction.ok()) << topology << ": " << prediction.status();
    EXPECT_GT(prediction->record.step_time().value_ps(), 0) << topology;
  }
}

}  // namespace
}  // namespace ptxla::driver
