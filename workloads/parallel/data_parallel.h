// Data parallelism of torch_xla's xm.reduce_gradients: after the backward pass
// one all-reduce of all gradients, each then scaled by 1 / replicas.
#ifndef PTXLA_WORKLOADS_PARALLEL_DATA_PARALLEL_H_
#define PTXLA_WORKLOADS_PARALLEL_DATA_PARALLEL_H_

#include <cstdint>

#include "workloads/nn/parameters.h"

namespace ptxla::workloads {

// Nothing with one replica.
void ReduceGradients(const nn::Parameters& parameters, int64_t replicas);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_PARALLEL_DATA_PARALLEL_H_
