// The models that a workload can name, in one table. A model is three
// functions of a spec: is it well formed, put it on a device, and (inside the
// second) how many FLOPs its products are.
//
//   ASSIGN_OR_RETURN(const Model* model, FindModel("bert"));
//   RETURN_IF_ERROR(model->check(spec));
//   ModelInstance instance = model->make(spec, batch, &parameters, &inputs);
//   Tensor loss = instance.loss();
#ifndef PTXLA_WORKLOADS_MODELS_H_
#define PTXLA_WORKLOADS_MODELS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workloads/nn/parameters.h"
#include "workloads/step_inputs.h"
#include "workloads/workload.pb.h"

namespace ptxla::workloads {

// A model on the device with its inputs.
struct ModelInstance {
  std::function<lazy::Tensor()> loss;                  // of a training step
  std::function<std::vector<lazy::Tensor>()> outputs;  // of a forward pass
  // Of the products, per replica and step.
  double forward_flops = 0, train_flops = 0;
};

struct Model {
  const char* name;
  absl::Status (*check)(const WorkloadSpec& spec);
  // `spec` has been checked; `batch` samples per replica.
  ModelInstance (*make)(const WorkloadSpec& spec, int64_t batch,
                        nn::Parameters* parameters, StepInputs* inputs);
};

// NotFound with "did you mean".
absl::StatusOr<const Model*> FindModel(absl::string_view name);

// spec.dropout() when training, else 0.
double DropoutOf(const WorkloadSpec& spec);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_H_
