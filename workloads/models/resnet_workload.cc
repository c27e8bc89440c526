#include "workloads/models/resnet_workload.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lazy/ops.h"
#include "workloads/models/resnet.h"
#include "workloads/spec_checks.h"

namespace ptxla::workloads {

using lazy::Tensor;

namespace {

constexpr int kMostStages = 16;  // each halves the image

ResnetDims DimsOf(const WorkloadSpec& spec) {
  const ResnetSpec& r = spec.resnet();
  return {{r.blocks().begin(), r.blocks().end()},
          r.width(),
          r.expansion(),
          r.image(),
          r.channels(),
          r.classes()};
}

}  // namespace

absl::Status CheckResnet(const WorkloadSpec& spec) {
  RETURN_IF_ERROR(CheckNoSequence(spec));
  const ResnetSpec& r = spec.resnet();
  if (r.blocks_size() == 0 || r.blocks_size() > kMostStages) {
    return BadField("resnet.blocks",
                    absl::StrCat("needs 1 to ", kMostStages, " stages"));
  }
  for (int64_t blocks : r.blocks()) {
    RETURN_IF_ERROR(CheckPositive("resnet.blocks", blocks, kMostLayers));
  }
  RETURN_IF_ERROR(CheckPositive("resnet.width", r.width()));
  RETURN_IF_ERROR(CheckPositive("resnet.expansion", r.expansion(), 64));
  RETURN_IF_ERROR(CheckPositive("resnet.image", r.image(), 1 << 14));
  RETURN_IF_ERROR(CheckPositive("resnet.channels", r.channels()));
  RETURN_IF_ERROR(CheckPositive("resnet.classes", r.classes()));
  const ResnetDims dims = DimsOf(spec);
  const double features = static_cast<double>(
      std::max({dims.channels, dims.width * dims.expansion, int64_t{1}}));
  RETURN_IF_ERROR(CheckBatch(
      spec, features * static_cast<double>(dims.image * dims.image)));
  return CheckBatch(spec, static_cast<double>(dims.classes));
}

ModelInstance MakeResnet(const WorkloadSpec& spec, int64_t batch,
                         nn::Parameters* parameters, StepInputs* inputs) {
  const ResnetDims dims = DimsOf(spec);
  const bool training = spec.phase() == "train";
  const auto net = std::make_shared<Resnet>(parameters, dims, training);
  const Tensor images =
      inputs->Floats("images", {batch, dims.image, dims.image, dims.channels});
  Tensor labels;
  if (training) labels = inputs->Integers("labels", {batch}, dims.classes);
  ModelInstance model;
  model.loss = [net, images, labels] {
    const Tensor logits = (*net)(images);
    const lazy::ScopePusher scope(logits.device(), "loss");
    return lazy::ops::CrossEntropy(logits, labels);
  };
  model.outputs = [net, images]() -> std::vector<Tensor> {
    return {(*net)(images)};
  };
  model.forward_flops = ResnetForwardFlops(dims, batch);
  model.train_flops = ResnetTrainFlops(dims, batch);
  return model;
}

}  // namespace ptxla::workloads
