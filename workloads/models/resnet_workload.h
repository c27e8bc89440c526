// What makes models/resnet.h a workload: its entries in the table of models
// (workloads/models.h).
#ifndef PTXLA_WORKLOADS_MODELS_RESNET_WORKLOAD_H_
#define PTXLA_WORKLOADS_MODELS_RESNET_WORKLOAD_H_

#include "workloads/models.h"

namespace ptxla::workloads {

absl::Status CheckResnet(const WorkloadSpec& spec);
ModelInstance MakeResnet(const WorkloadSpec& spec, int64_t batch,
                         nn::Parameters* parameters, StepInputs* inputs);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_RESNET_WORKLOAD_H_
