#include "workloads/parallel/data_parallel.h"

#include <numeric>
#include <utility>
#include <vector>

#include "lazy/ops.h"

namespace ptxla::workloads {

void ReduceGradients(const nn::Parameters& parameters, int64_t replicas) {
  if (replicas == 1) return;
  const lazy::ScopePusher scope(parameters.device(), "reduce_gradients");
  std::vector<lazy::Tensor> gradients;
  for (const lazy::Tensor& p : parameters.tensors()) {
    if (p.grad().defined()) gradients.push_back(p.grad());
  }
  std::vector<int64_t> everyone(replicas);
  std::iota(everyone.begin(), everyone.end(), 0);
  lazy::ops::AllReduceInPlace(gradients, 1.0 / replicas, {std::move(everyone)});
}

}  // namespace ptxla::workloads
