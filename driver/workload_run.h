// `run --workload`: a model is traced for a few steps on the simulated TPU;
// what the last of them did is repeated for ever, and its period is the step
// time.
#ifndef PTXLA_DRIVER_WORKLOAD_RUN_H_
#define PTXLA_DRIVER_WORKLOAD_RUN_H_

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/prediction.h"
#include "driver/run_request.h"

namespace ptxla::driver {

absl::StatusOr<Prediction> RunWorkload(const RunRequest& request,
                                       const chips::Slice& slice);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_WORKLOAD_RUN_H_
