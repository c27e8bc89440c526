#include "workloads/models/mlp_workload.h"

#include <memory>

#include "base/status.h"
#include "lazy/ops.h"
#include "workloads/models/mlp.h"
#include "workloads/spec_checks.h"

namespace ptxla::workloads {

using lazy::Tensor;

absl::Status CheckMlp(const WorkloadSpec& spec) {
  RETURN_IF_ERROR(CheckNoSequence(spec));
  const MlpSpec& mlp = spec.mlp();
  if (mlp.widths_size() < 2) {
    return BadField("mlp.widths",
                    "needs at least an input and an output width");
  }
  for (int64_t width : mlp.widths()) {
    RETURN_IF_ERROR(CheckPositive("mlp.widths", width));
    RETURN_IF_ERROR(CheckBatch(spec, static_cast<double>(width)));
  }
  return absl::OkStatus();
}

ModelInstance MakeMlp(const WorkloadSpec& spec, int64_t batch,
                      nn::Parameters* parameters, StepInputs* inputs) {
  const auto& widths = spec.mlp().widths();
  const MlpDims dims = {{widths.begin(), widths.end()}, DropoutOf(spec)};
  const auto mlp = std::make_shared<Mlp>(parameters, dims);
  const Tensor images = inputs->Floats("images", {batch, widths[0]});
  Tensor labels;
  if (spec.phase() == "train") {
    labels = inputs->Integers("labels", {batch}, dims.widths.back());
  }
  ModelInstance model;
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

}  // namespace ptxla::workloads
