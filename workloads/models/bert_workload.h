// What makes models/bert.h a workload: its entries in the table of models
// (workloads/models.h).
#ifndef PTXLA_WORKLOADS_MODELS_BERT_WORKLOAD_H_
#define PTXLA_WORKLOADS_MODELS_BERT_WORKLOAD_H_

#include "workloads/models.h"

namespace ptxla::workloads {

absl::Status CheckBert(const WorkloadSpec& spec);
ModelInstance MakeBert(const WorkloadSpec& spec, int64_t batch,
                       nn::Parameters* parameters, StepInputs* inputs);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_MODELS_BERT_WORKLOAD_H_
