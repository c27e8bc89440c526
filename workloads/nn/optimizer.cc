#include "workloads/nn/optimizer.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lazy/ops.h"

namespace ptxla::nn {
namespace {

namespace ops = lazy::ops;
using lazy::Tensor;

class Sgd : public Optimizer {
 public:
  Sgd(std::vector<Tensor> parameters, SgdOptions options)
      : parameters_(std::move(parameters)),
        momentum_(parameters_.size()),
        options_(options) {}

  void set_learning_rate(double lr) override { options_.learning_rate = lr; }

  void Step() override {
    if (parameters_.empty()) return;
    lazy::Device* device = parameters_[0].device();
    const lazy::NoGrad no_grad(device);
    const lazy::ScopePusher scope(device, "SGD");
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& p = parameters_[i];
      Tensor grad = p.grad();
      if (!grad.defined()) continue;
      if (options_.weight_decay != 0) {
        grad = ops::Add(grad, p, options_.weight_decay);
      }
      if (options_.momentum != 0) {
        Tensor& momentum = momentum_[i];
        if (momentum.defined()) {
          ops::MulInPlace(momentum, options_.momentum);
          ops::AddInPlace(momentum, grad, 1);
        } else {
          momentum = Tensor::FromValue(device, grad.ir());
          momentum.lazy()->set_label(absl::StrCat(p.label(), ":momentum"));
        }
        grad = momentum;
      }
      ops::AddInPlace(p, grad, -options_.learning_rate);
    }
  }

 private:
  std::vector<Tensor> parameters_, momentum_;
  SgdOptions options_;
};

class AdamW : public Optimizer {
 public:
  AdamW(std::vector<Tensor> parameters, AdamWOptions options)
      : parameters_(std::move(parameters)),
        first_(parameters_.size()),
        second_(parameters_.size()),
        options_(options) {}

  void set_learning_rate(double lr) override { options_.learning_rate = lr; }

  void Step() override {
    if (parameters_.empty()) return;
    lazy::Device* device = parameters_[0].device();
    const lazy::NoGrad no_grad(device);
    const lazy::ScopePusher scope(device, "AdamW");
    const AdamWOptions& o = options_;
    beta1_power_ *= o.beta1;
    beta2_power_ *= o.beta2;
    const double step_size = o.learning_rate / (1 - beta1_power_);
    const double correction2 = std::sqrt(1 - beta2_power_);
    MakeState(device);
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& p = parameters_[i];
      const Tensor& grad = p.grad();
      if (!grad.defined()) continue;
      if (o.weight_decay != 0) {
        ops::MulInPlace(p, 1 - o.learning_rate * o.weight_decay);
      }
      ops::LerpInPlace(first_[i], grad, 1 - o.beta1);
      ops::MulInPlace(second_[i], o.beta2);
      ops::AddcmulInPlace(second_[i], grad, grad, 1 - o.beta2);
      const Tensor denominator = ops::AddScalar(
          ops::DivScalar(ops::Sqrt(second_[i]), correction2), o.epsilon);
      ops::AddcdivInPlace(p, first_[i], denominator, -step_size);
    }
  }

 private:
  void MakeState(lazy::Device* device) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Tensor& p = parameters_[i];
      if (first_[i].defined() || !p.grad().defined()) continue;
      first_[i] = ops::Zeros(device, p.shape().RowMajor());
      second_[i] = ops::Zeros(device, p.shape().RowMajor());
      first_[i].lazy()->set_label(absl::StrCat(p.label(), ":exp_avg"));
      second_[i].lazy()->set_label(absl::StrCat(p.label(), ":exp_avg_sq"));
    }
  }

  std::vector<Tensor> parameters_, first_, second_;
  AdamWOptions options_;
  double beta1_power_ = 1, beta2_power_ = 1;
};

}  // namespace

std::unique_ptr<Optimizer> MakeSgd(std::vector<Tensor> parameters,
                                   SgdOptions options) {
  return std::make_unique<Sgd>(std::move(parameters), options);
}

std::unique_ptr<Optimizer> MakeAdamW(std::vector<Tensor> parameters,
                                     AdamWOptions options) {
  return std::make_unique<AdamW>(std::move(parameters), options);
}

}  // namespace ptxla::nn
