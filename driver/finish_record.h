// The parts of a RunRecord that follow from others: rates, utilisation, cost,
// bound, band, hashes.
#ifndef PTXLA_DRIVER_FINISH_RECORD_H_
#define PTXLA_DRIVER_FINISH_RECORD_H_

#include "chips/topology.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

// Who the slice is: topology, chip, counts, chip file.
void DescribeSlice(const chips::Slice& slice, record::RunConfig* config);

// `record` has config, step_time.value_ps, time_by_bound, programs, assumed
// and first_steps where they apply. Adds the rest, but for the run's identity
// (run_id, started, tool).
void FinishRecord(const chips::Slice& slice, record::RunRecord* record);

// Hash of the configuration: equal for runs that must give the same result.
std::string ConfigHash(const record::RunConfig& config);
// Hash of everything that must be equal when a run is repeated.
std::string ResultHash(const record::RunRecord& record);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_FINISH_RECORD_H_
