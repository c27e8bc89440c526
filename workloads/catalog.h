// From a spec to something that steps.
//
//   ASSIGN_OR_RETURN(auto workload, MakeWorkload(spec, &device, {8}));
//   for (int step = 0; step < 3; ++step) {
//     RETURN_IF_ERROR(workload->Step());
//   }
//
// A training step traces zero_grad, forward, backward, the gradient all-reduce
// (with more than one replica), the optimizer, and ends in device->Sync(). The
// first step of an optimizer with state is another program than the later ones.
// A prefill step traces the forward pass without gradients and without dropout,
// keeps its outputs, and ends in the same way.
#ifndef PTXLA_WORKLOADS_CATALOG_H_
#define PTXLA_WORKLOADS_CATALOG_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lazy/device.h"
#include "lazy/tensor.h"
#include "workloads/spec.h"

namespace ptxla::workloads {

struct ParallelOptions {
  int64_t data = 1;  // replicas that share a global batch
};

// What is known of a workload without tracing it, per replica and step.
struct WorkloadFacts {
  int64_t parameters = 0;
  int64_t samples = 0;
  int64_t tokens = 0;  // 0: samples are no sequences
  // Of the products of a step (forward, and backward when training), without
  // recomputation: what MFU divides by.
  double model_flops = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual absl::Status Step() = 0;
  // Of the last training step; undefined in other phases.
  virtual const lazy::Tensor& loss() const = 0;
  virtual void set_learning_rate(double learning_rate) = 0;
  virtual const WorkloadFacts& facts() const = 0;
};

// Checks the spec first. InvalidArgument when the replicas do not divide the
// global batch. The device must outlive the workload.
absl::StatusOr<std::unique_ptr<Workload>> MakeWorkload(
    const WorkloadSpec& spec, lazy::Device* device,
    const ParallelOptions& parallel = {});

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_CATALOG_H_
