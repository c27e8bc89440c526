#include "workloads/catalog.h"

#include <functional>
#include <utility>

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

class Training : public Workload {
 public:
  Training(const WorkloadSpec& spec, lazy::Device* device, int64_t replicas,
           int64_t batch)
      : device_(device),
        autocast_(spec.dtype() == "bf16"),
        replicas_(replicas),
        parameters_(device, spec.seed()),
        batch_(device, spec.seed()) {
    device->ManualSeed(spec.seed());
    if (spec.model() == "bert") {
      MakeBert(spec, batch);
    } else {
      MakeMlp(spec, batch);
    }
    optimizer_ = MakeOptimizer(spec, parameters_);
    facts_.parameters = parameters_.element_count();
    facts_.samples = batch;
    facts_.tokens = batch * spec.seq();
  }

  absl::Status Step() override {
    if (step_ > 0) batch_.Load(step_);
    ++step_;
    parameters_.ClearGradients();
    {
      const lazy::Autocast autocast(device_, autocast_);
      loss_ = forward_();
    }
    lazy::Backward(loss_);
    ReduceGradients(parameters_, replicas_);
    optimizer_->Step();
    return device_->Sync();
  }

  const Tensor& loss() const override { return loss_; }
  void set_learning_rate(double learning_rate) override {
    optimizer_->set_learning_rate(learning_rate);
  }
  const WorkloadFacts& facts() const override { return facts_; }

 private:
  void MakeBert(const WorkloadSpec& spec, int64_t batch) {
    const BertSpec& b = spec.bert();
    const BertDims dims = {
        b.layers(),       b.hidden(),     b.heads(),
        b.intermediate(), b.vocabulary(), b.max_positions(),
        b.token_types(),  spec.dropout(), b.layer_norm_epsilon()};
    auto bert = std::make_shared<Bert>(&parameters_, dims);
    const DimVector tokens = {batch, spec.seq()};
    BertBatch inputs;
    inputs.input_ids = batch_.Integers("input_ids", tokens, dims.vocabulary);
    inputs.token_type_ids =
        batch_.Integers("token_type_ids", tokens, dims.token_types);
    inputs.attention_mask = batch_.Integers("attention_mask", tokens, 2);
    inputs.labels = batch_.Integers("labels", tokens, dims.vocabulary);
    inputs.next_sentence_label =
        batch_.Integers("next_sentence_label", {batch}, 2);
    forward_ = [bert, inputs] { return bert->Loss(inputs); };
    facts_.model_flops = BertTrainFlops(dims, batch, spec.seq());
  }

  void MakeMlp(const WorkloadSpec& spec, int64_t batch) {
    const auto& widths = spec.mlp().widths();
    const MlpDims dims = {{widths.begin(), widths.end()}, spec.dropout()};
    auto mlp = std::make_shared<Mlp>(&parameters_, dims);
    const Tensor images = batch_.Floats("images", {batch, widths[0]});
    const Tensor labels =
        batch_.Integers("labels", {batch}, dims.widths.back());
    forward_ = [mlp, images, labels] {
      const Tensor logits = (*mlp)(images);
      const lazy::ScopePusher scope(logits.device(), "loss");
      return lazy::ops::CrossEntropy(logits, labels);
    };
    facts_.model_flops = MlpTrainFlops(dims, batch);
  }

  lazy::Device* device_;
  bool autocast_;
  int64_t replicas_;
  nn::Parameters parameters_;
  Batch batch_;
  std::function<Tensor()> forward_;
  std::unique_ptr<nn::Optimizer> optimizer_;
  Tensor loss_;
  WorkloadFacts facts_;
  int64_t step_ = 0;
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
  return std::make_unique<Training>(spec, device, parallel.data, batch);
}

}  // namespace ptxla::workloads
