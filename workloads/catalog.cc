#include "workloads/catalog.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "lazy/autocast.h"
#include "lazy/autograd.h"
#include "lazy/ops.h"
#include "workloads/models/bert.h"
#include "workloads/models/mlp.h"
#include "workloads/nn/optimizer.h"
#include "workloads/parallel/data_parallel.h"

namespace ptxla::workloads {
namespace {

using hlo::PrimitiveType;
using lazy::DimVector;
using lazy::HostValue;
using lazy::Tensor;

// The inputs of a step: made once, filled anew every step.
class Batch {
 public:
  Batch(lazy::Device* device, uint64_t seed) : device_(device), seed_(seed) {}

  Tensor Integers(const std::string& name, DimVector dims, int64_t limit) {
    return Add(name, PrimitiveType::kS64, std::move(dims),
               static_cast<double>(limit));
  }
  Tensor Floats(const std::string& name, DimVector dims) {
    return Add(name, PrimitiveType::kF32, std::move(dims), 1);
  }
  void Load(int64_t step) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i].tensor.Load(Values(i, step));
    }
  }

 private:
  struct Input {
    Tensor tensor;
    double limit;
  };

  HostValue Values(size_t input, int64_t step) const {
    return HostValue::Uniform(0, inputs_[input].limit,
                              HashCombine(HashCombine(seed_, input), step));
  }

  Tensor Add(const std::string& name, PrimitiveType type, DimVector dims,
             double limit) {
    inputs_.push_back({Tensor(), limit});
    inputs_.back().tensor = Tensor::FromHost(
        device_, {type, std::move(dims)}, Values(inputs_.size() - 1, 0), name);
    return inputs_.back().tensor;
  }

  lazy::Device* device_;
  uint64_t seed_;
  std::vector<Input> inputs_;
};

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

// A model on the device with its inputs.
struct Model {
  std::function<Tensor()> loss;
  std::function<std::vector<Tensor>()> outputs;  // of a forward pass
  double forward_flops = 0, train_flops = 0;
};

double DropoutOf(const WorkloadSpec& spec) {
  return spec.phase() == "train" ? spec.dropout() : 0;
}

Model MakeBert(const WorkloadSpec& spec, int64_t batch,
               nn::Parameters* parameters, Batch* inputs) {
  const BertSpec& b = spec.bert();
  const BertDims dims = {
      b.layers(),       b.hidden(),      b.heads(),
      b.intermediate(), b.vocabulary(),  b.max_positions(),
      b.token_types(),  DropoutOf(spec), b.layer_norm_epsilon()};
  const auto bert = std::make_shared<Bert>(parameters, dims);
  const DimVector tokens = {batch, spec.seq()};
  BertBatch x;
  x.input_ids = inputs->Integers("input_ids", tokens, dims.vocabulary);
  x.token_type_ids =
      inputs->Integers("token_type_ids", tokens, dims.token_types);
  x.attention_mask = inputs->Integers("attention_mask", tokens, 2);
  if (spec.phase() == "train") {
    x.labels = inputs->Integers("labels", tokens, dims.vocabulary);
    x.next_sentence_label = inputs->Integers("next_sentence_label", {batch}, 2);
  }
  Model model;
  model.loss = [bert, x] { return bert->Loss(x); };
  model.outputs = [bert, x]() -> std::vector<Tensor> {
    const BertLogits logits = bert->Logits(x);
    return {logits.tokens, logits.next_sentence};
  };
  model.forward_flops = BertForwardFlops(dims, batch, spec.seq());
  model.train_flops = 3 * model.forward_flops;
  return model;
}

Model MakeMlp(const WorkloadSpec& spec, int64_t batch,
              nn::Parameters* parameters, Batch* inputs) {
  const auto& widths = spec.mlp().widths();
  const MlpDims dims = {{widths.begin(), widths.end()}, DropoutOf(spec)};
  const auto mlp = std::make_shared<Mlp>(parameters, dims);
  const Tensor images = inputs->Floats("images", {batch, widths[0]});
  Tensor labels;
  if (spec.phase() == "train") {
    labels = inputs->Integers("labels", {batch}, dims.widths.back());
  }
  Model model;
  model.loss = [mlp, images, labels] {
    const Tensor logits = (*mlp)(images);
    const lazy::ScopePusher scope(logits.device(), "loss");
    return lazy::ops::CrossEntropy(logits, labels);
  };
  model.outputs = [mlp, images]() -> std::vector<Tensor> {
    return {(*mlp)(images)};
  };
  model.forward_flops = MlpForwardFlops(dims, batch);
  model.train_flops = MlpTrainFlops(dims, batch);
  return model;
}

// What both phases share.
class DeviceWorkload : public Workload {
 public:
  DeviceWorkload(const WorkloadSpec& spec, lazy::Device* device, int64_t batch)
      : device_(device),
        autocast_(spec.dtype() == "bf16"),
        parameters_(device, spec.seed()),
        batch_(device, spec.seed()) {
    device->ManualSeed(spec.seed());
    const auto make = spec.model() == "bert" ? MakeBert : MakeMlp;
    model_ = make(spec, batch, &parameters_, &batch_);
    facts_.parameters = parameters_.element_count();
    facts_.samples = batch;
    facts_.tokens = batch * spec.seq();
  }

  absl::Status Step() override {
    if (step_ > 0) batch_.Load(step_);
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
  Batch batch_;
  Model model_;
  Tensor loss_;
  WorkloadFacts facts_;
  int64_t step_ = 0;
};

class Training : public DeviceWorkload {
 public:
  Training(const WorkloadSpec& spec, lazy::Device* device, int64_t batch,
           int64_t replicas)
      : DeviceWorkload(spec, device, batch),
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
  Prefill(const WorkloadSpec& spec, lazy::Device* device, int64_t batch)
      : DeviceWorkload(spec, device, batch) {
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
  if (spec.phase() == "prefill") {
    return std::make_unique<Prefill>(spec, device, batch);
  }
  return std::make_unique<Training>(spec, device, batch, parallel.data);
}

}  // namespace ptxla::workloads
