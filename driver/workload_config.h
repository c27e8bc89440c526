// The workload that a request means: the catalogue's, with the user's changes.
#ifndef PTXLA_DRIVER_WORKLOAD_CONFIG_H_
#define PTXLA_DRIVER_WORKLOAD_CONFIG_H_

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/run_request.h"
#include "record/run_record.pb.h"
#include "workloads/catalog.h"
#include "workloads/spec.h"

namespace ptxla::driver {

// NotFound or InvalidArgument names the option or the field.
absl::StatusOr<workloads::WorkloadSpec> ResolveWorkload(
    const RunRequest& request);

// What a report says of it.
void DescribeWorkload(const workloads::WorkloadSpec& spec,
                      const workloads::WorkloadFacts& facts,
                      const chips::Slice& slice, record::RunConfig* config);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_WORKLOAD_CONFIG_H_
