// Do the traced training steps learn, when their HLO is evaluated?
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "lazy/autocast.h"
#include "lazy/autograd.h"
#include "lazy/device.h"
#include "lazy/lowering.h"
#include "lazy/ops.h"
#include "lazy/sync.h"
#include "tests/support/status_matchers.h"
#include "workloads/models/bert.h"
#include "workloads/models/mlp.h"
#include "workloads/models/resnet.h"
#include "workloads/nn/optimizer.h"

namespace ptxla::workloads {
namespace {

using hlo::PrimitiveType;
using lazy::HostValue;
using lazy::Tensor;

// Evaluates every barrier; buffers carry their literal as host value.
class Evaluating : public lazy::Executor {
 public:
  void OnNode(const lazy::Device&, const lazy::Node&) override {}
  void OnTransferToDevice(const lazy::DeviceData&) override {}
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    ASSIGN_OR_RETURN(const auto module,
                     lazy::LowerToHlo(sync.graph, lazy::LoweringOptions()));
    std::vector<hlo::Literal> arguments;
    for (const lazy::DeviceDataPtr& data : sync.graph.parameters) {
      arguments.push_back(lazy::Materialize(data->host_value, data->shape()));
    }
    ASSIGN_OR_RETURN(hlo::Literal result, hlo::Evaluate(*module, arguments));
    const auto outputs = lazy::MakeOutputBuffers(device, sync);
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i]->host_value =
          HostValue::FromLiteral(std::move((*result.mutable_elements())[i]));
    }
    lazy::FinishSync(sync, outputs);
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*,
                                    lazy::LazyTensor* tensor) override {
    return lazy::Materialize(tensor->data()->host_value, tensor->shape());
  }
};

class LearningTest : public ::testing::Test {
 protected:
  Tensor Integers(lazy::DimVector dims, double limit, uint64_t seed) {
    return Tensor::FromHost(&device_, {PrimitiveType::kS64, std::move(dims)},
                            HostValue::Uniform(0, limit, seed));
  }
  // Losses of `steps` training steps on one batch.
  std::vector<double> Train(nn::Optimizer* optimizer, int steps,
                            const std::function<Tensor()>& forward) {
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
      parameters_.ClearGradients();
      const Tensor loss = forward();
      lazy::Backward(loss);
      optimizer->Step();
      EXPECT_THAT(device_.Sync(), testing::IsOk());
      const auto value = device_.Read(loss.lazy().get());
      EXPECT_THAT(value, testing::IsOk());
      losses.push_back(value.ok() ? value->GetDouble(0) : 0);
    }
    return losses;
  }

  Evaluating executor_;
  lazy::Device device_{&executor_};
  nn::Parameters parameters_{&device_, 7};
};

TEST_F(LearningTest, AnMlpFitsABatchWithMomentum) {
  const Mlp mlp(&parameters_, {{16, 32, 16, 4}, 0.1});
  const Tensor x = Tensor::FromHost(&device_, {PrimitiveType::kF32, {32, 16}},
                                    HostValue::Uniform(-1, 1, 3));
  const Tensor labels = Integers({32}, 4, 5);
  const auto sgd = nn::MakeSgd(parameters_.tensors(), {0.1, 0.9, 1e-4});
  const std::vector<double> losses = Train(
      sgd.get(), 80, [&] { return lazy::ops::CrossEntropy(mlp(x), labels); });
  EXPECT_NEAR(losses.front(), 1.386, 0.1) << "ln 4, an untrained guess";
  EXPECT_LT(losses.back(), 0.3 * losses.front());
}

TEST_F(LearningTest, ATinyResnetFitsABatchInBf16) {
  const Resnet resnet(&parameters_, {{1, 1}, 4, 4, 16, 3, 4},
                      /*training=*/true);
  const Tensor x =
      Tensor::FromHost(&device_, {PrimitiveType::kF32, {8, 16, 16, 3}},
                       HostValue::Uniform(0, 1, 3));
  const Tensor labels = Integers({8}, 4, 5);
  const auto sgd = nn::MakeSgd(parameters_.tensors(), {0.05, 0.9, 1e-4});
  const std::vector<double> losses = Train(sgd.get(), 20, [&] {
    const lazy::Autocast autocast(&device_);
    return lazy::ops::CrossEntropy(resnet(x), labels);
  });
  EXPECT_NEAR(losses.front(), 1.386, 0.7) << "ln 4, an untrained guess";
  EXPECT_LT(losses.back(), 0.3 * losses.front());
}

TEST_F(LearningTest, ATinyBertFitsABatchWithAdamWInBf16) {
  const Bert bert(&parameters_, {2, 16, 2, 32, 40, 8, 2, 0.0, 1e-12});
  const BertBatch batch = {
      Integers({4, 8}, 40, 1), Integers({4, 8}, 2, 2),
      Tensor::FromHost(&device_, {PrimitiveType::kS64, {4, 8}},
                       HostValue::Constant(1)),
      Integers({4, 8}, 40, 3), Integers({4}, 2, 4)};
  const auto adamw = nn::MakeAdamW(parameters_.tensors(), {1e-2});
  const std::vector<double> losses = Train(adamw.get(), 60, [&] {
    const lazy::Autocast autocast(&device_);
    return bert.Loss(batch);
  });
  EXPECT_NEAR(losses.front(), 3.689 + 0.693, 0.5) << "ln 40 + ln 2";
  EXPECT_LT(losses.back(), 0.3 * losses.front());
}

}  // namespace
}  // namespace ptxla::workloads
