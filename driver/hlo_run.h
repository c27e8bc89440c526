// `run --hlo`: one module on the device, without a host. What it takes is the
// device time of one execution; of a folder of modules, of one execution of
// each, one after the other.
#ifndef PTXLA_DRIVER_HLO_RUN_H_
#define PTXLA_DRIVER_HLO_RUN_H_

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/prediction.h"
#include "driver/run_request.h"

namespace ptxla::driver {

absl::StatusOr<Prediction> RunHlo(const RunRequest& request,
                                  const chips::Slice& slice);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_HLO_RUN_H_
