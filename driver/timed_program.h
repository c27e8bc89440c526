// One program under the clock of a measurement: what its timing convention
// makes of compiled code and of the simulator's trace.
//
//   ASSIGN_OR_RETURN(TimedProgram p, TimedProgram::Compile(slice, module,
//   ...)); ASSIGN_OR_RETURN(Picoseconds t, p.Time(Timing::kDeviceEvent));
#ifndef PTXLA_DRIVER_TIMED_PROGRAM_H_
#define PTXLA_DRIVER_TIMED_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/units.h"
#include "chips/topology.h"
#include "driver/measured_rows.h"
#include "hlo_backend/ir/module.h"
#include "isa/program.h"
#include "record/device_trace.pb.h"
#include "sim/core/timing_cache.h"

namespace ptxla::driver {

class TimedProgram {
 public:
  // Operands of the entry lie where `residency` says when the clock starts.
  // `slice` outlives the result. `verify`: of hlo::CompileOptions.
  static absl::StatusOr<TimedProgram> Compile(
      const chips::Slice& slice, std::unique_ptr<hlo::Module> module,
      Residency residency, const std::vector<std::string>& disable_passes,
      bool verify = false);

  absl::StatusOr<Picoseconds> Time(Timing timing);

  // One execution on the device.
  absl::StatusOr<record::DeviceTrace> Trace() const { return Simulate(); }

  const isa::Program& program() const { return program_; }
  const hlo::Module& module() const { return *module_; }  // scheduled

 private:
  explicit TimedProgram(const chips::Slice& slice)
      : slice_(&slice), timings_(std::make_unique<sim::TimingCache>()) {}

  absl::StatusOr<record::DeviceTrace> Simulate() const;
  absl::StatusOr<Picoseconds> Slope();
  absl::StatusOr<Picoseconds> CopyWait() const;
  absl::StatusOr<Picoseconds> OnHost(bool wait) const;

  const chips::Slice* slice_;
  std::unique_ptr<hlo::Module> module_;
  isa::Program program_;
  std::unique_ptr<sim::TimingCache> timings_;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_TIMED_PROGRAM_H_
