// What a prediction rests on: the ASSUMED numbers of chip and host, and how
// much the step moves when each of them moves by 20 %.
//
//   AssumedInputs in{slice, &host_costs, bounds, step};
//   in.step_time = [&](const ChipSpec& chip, const HostCosts& host) {...};
//   ASSIGN_OR_RETURN(auto list, AssumedNumbers(in));
#ifndef PTXLA_DRIVER_ASSUMED_H_
#define PTXLA_DRIVER_ASSUMED_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "record/run_record.pb.h"
#include "runtime/host_costs.h"

namespace ptxla::driver {

inline constexpr double kAssumedMove = 0.2;
// How many numbers are re-simulated, by first-order estimate.
inline constexpr int kAssumedSimulated = 10;

struct AssumedInputs {
  const chips::ChipSpec* chip = nullptr;
  const runtime::HostCosts* host = nullptr;  // null: no host in the answer
  record::BoundTimes bounds;                 // of the step
  Picoseconds step;
  // The step under changed numbers, without compiling again.
  std::function<absl::StatusOr<Picoseconds>(const chips::ChipSpec&,
                                            const runtime::HostCosts*)>
      step_time;
};

// Those that move the step, largest first, with effect_ps set.
absl::StatusOr<std::vector<record::AssumedRecord>> AssumedNumbers(
    const AssumedInputs& in);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_ASSUMED_H_
