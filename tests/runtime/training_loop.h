// A small classifier that trains with AdamW: what executor tests run.
#ifndef PTXLA_TESTS_RUNTIME_TRAINING_LOOP_H_
#define PTXLA_TESTS_RUNTIME_TRAINING_LOOP_H_

#include <memory>

#include "lazy/autograd.h"
#include "lazy/device.h"
#include "lazy/ops.h"
#include "workloads/models/mlp.h"
#include "workloads/nn/optimizer.h"

namespace ptxla::runtime::testing {

class TrainingLoop {
 public:
  TrainingLoop(lazy::Executor* executor, int64_t batch, double dropout = 0)
      : device_(executor),
        parameters_(&device_, 1),
        mlp_(&parameters_, {{16, 32, 4}, dropout}),
        optimizer_(nn::MakeAdamW(parameters_.tensors(), {1e-2})) {
    SetBatch(batch);
  }

  // Fixed data, so that the loss can only fall by training.
  void SetBatch(int64_t batch) {
    using lazy::HostValue;
    x_ = lazy::Tensor::FromHost(
        &device_, lazy::TensorShape(lazy::PrimitiveType::kF32, {batch, 16}),
        HostValue::Uniform(-1, 1, 7), "x");
    labels_ = lazy::Tensor::FromHost(
        &device_, lazy::TensorShape(lazy::PrimitiveType::kS64, {batch}),
        HostValue::Uniform(0, 4, 9), "labels");
  }

  // Forward, backward, optimiser; the barrier is the caller's.
  lazy::Tensor Trace() {
    parameters_.ClearGradients();
    lazy::Tensor loss = lazy::ops::CrossEntropy(mlp_(x_), labels_);
    lazy::Backward(loss);
    optimizer_->Step();
    return loss;
  }

  absl::Status Step() {
    loss_ = Trace();
    return device_.Sync();
  }

  lazy::Device* device() { return &device_; }
  const lazy::Tensor& loss() const { return loss_; }
  nn::Optimizer* optimizer() { return optimizer_.get(); }

 private:
  lazy::Device device_;
  nn::Parameters parameters_;
  workloads::Mlp mlp_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  lazy::Tensor x_, labels_, loss_;
};

}  // namespace ptxla::runtime::testing

#endif  // PTXLA_TESTS_RUNTIME_TRAINING_LOOP_H_
