#include "workloads/catalog.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lazy/autocast.h"
#include "lazy/autograd.h"
#include "workloads/models.h"
#include "workloads/nn/optimizer.h"
#include "workloads/parallel/data_parallel.h"

namespace ptxla::workloads {
namespace {

using lazy::Tensor;

std::unique_ptr<nn::Optimizer> MakeOptimizer(const WorkloadSpec& spec,
                                             const nn::Parameters& p) {
  if (spec.optimizer() == "sgd") {
    return nn::MakeSgd(p.tensors(), {spec.learning_rate(), spec.momentum(),
                                     spec.weight_decay()});
  }
  return nn::MakeAdamW(p.tensors(),
                       {spec.learning_rate(), spec.beta1(), spec.beta2(),
                        spec.optimizer_epsilon(), spec.weight_decay()});
}

// What both phases share.
class DeviceWorkload : public Workload {
 public:
  DeviceWorkload(const WorkloadSpec& spec, const Model& model,
                 lazy::Device* device, int64_t batch)
      : device_(device),
        autocast_(spec.dtype() == "bf16"),
        parameters_(device, spec.seed()),
        inputs_(device, spec.seed()) {
    device->ManualSeed(spec.seed());
    model_ = model.make(spec, batch, &parameters_, &inputs_);
    facts_.parameters = parameters_.element_count();
    facts_.samples = batch;
    facts_.tokens = batch * spec.seq();
  }

  absl::Status Step() override {
    if (step_ > 0) inputs_.Load(step_);
    ++step_;
    Trace();
    return device_->Sync();
  }
  const Tensor& loss() const override { return loss_; }
  void set_learning_rate(double) override {}
  const WorkloadFacts& facts() const override { return facts_; }

 protected:
  virtual void Trace() = 0;

  lazy::Device* device_;
  bool autocast_;
  nn::Parameters parameters_;
  StepInputs inputs_;
  ModelInstance model_;
  Tensor loss_;
  WorkloadFacts facts_;
  int64_t step_ = 0;
};

class Training : public DeviceWorkload {
 public:
  Training(const WorkloadSpec& spec, const Model& model, lazy::Device* device,
           int64_t batch, int64_t replicas)
      : DeviceWorkload(spec, model, device, batch),
        replicas_(replicas),
        optimizer_(MakeOptimizer(spec, parameters_)) {
    facts_.model_flops = model_.train_flops;
  }
  void set_learning_rate(double learning_rate) override {
    optimizer_->set_learning_rate(learning_rate);
  }

 private:
  void Trace() override {
    parameters_.ClearGradients();
    {
      const lazy::Autocast autocast(device_, autocast_);
      loss_ = model_.loss();
    }
    lazy::Backward(loss_);
    ReduceGradients(parameters_, replicas_);
    optimizer_->Step();
  }

  int64_t replicas_;
  std::unique_ptr<nn::Optimizer> optimizer_;
};

class Prefill : public DeviceWorkload {
 public:
  Prefill(const WorkloadSpec& spec, const Model& model, lazy::Device* device,
          int64_t batch)
      : DeviceWorkload(spec, model, device, batch) {
    facts_.model_flops = model_.forward_flops;
  }

 private:
  void Trace() override {
    const lazy::NoGrad no_grad(device_);
    const lazy::Autocast autocast(device_, autocast_);
    outputs_ = model_.outputs();
  }

  std::vector<Tensor> outputs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> MakeWorkload(
    const WorkloadSpec& spec, lazy::Device* device,
    const ParallelOptions& parallel) {
  RETURN_IF_ERROR(CheckSpec(spec)) << "workload " << spec.name();
  int64_t batch = spec.batch_per_chip();
  if (batch == 0) {
    if (spec.global_batch() % parallel.data != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "workload ", spec.name(), ": a global batch of ", spec.global_batch(),
          " does not divide among ", parallel.data,
          " replicas; choose a multiple, or --batch-per-chip"));
    }
    batch = spec.global_batch() / parallel.data;
  }
  ASSIGN_OR_RETURN(const Model* model, FindModel(spec.model()));
  if (spec.phase() == "prefill") {
    return std::make_unique<Prefill>(spec, *model, device, batch);
  }
  return std::make_unique<Training>(spec, *model, device, batch, parallel.data);
}

}  // namespace ptxla::workloads
