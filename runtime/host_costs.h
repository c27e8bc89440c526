// What the host of a TPU costs: tracing, step barrier, dispatch, transfers and
// XLA's compile time. The numbers stand in data/host.textproto with unit,
// source and confidence; a chip file overrides them by key ("host.launch").
//
//   ASSIGN_OR_RETURN(HostCosts costs, HostCosts::For(chip));
//   Picoseconds trace = costs.work(HostWork::kRecordedCall) * calls;
#ifndef PTXLA_RUNTIME_HOST_COSTS_H_
#define PTXLA_RUNTIME_HOST_COSTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "chips/chip_spec.h"
#include "runtime/host_work.h"

namespace ptxla::runtime {

struct HostCosts {
  PerHostWork<Picoseconds> works{};  // one unit of each, on this host
  double slowness = 1;         // of this host's processor; already in `works`
  Picoseconds barrier;         // the device lock when nobody holds it
  Picoseconds launch;          // dispatch thread, per execution
  Picoseconds launch_buffer;   // dispatch thread, per argument and result
  Picoseconds read_back;       // round trip of a blocking read
  Picoseconds transfer_issue;  // tracing thread, per host-to-device transfer
  BytesPerSecond pcie{0};      // host to device
  int queue_depth = 1;         // executions in flight
  Picoseconds compile_fixed;   // XLA, per compilation
  Picoseconds compile_instruction;  // XLA, per HLO instruction traced
  double compile_band = 0;          // +- fraction of a predicted compile time

  Picoseconds work(HostWork w) const { return works[static_cast<size_t>(w)]; }

  // Every number with its source, in file order, overrides applied.
  struct Number {
    std::string key;
    double value = 0;  // in `unit`
    std::string unit;
    std::string source;
    chips::Confidence confidence = chips::CONFIDENCE_UNSPECIFIED;
  };
  std::vector<Number> numbers;

  // The defaults with what `chip` says instead.
  static absl::StatusOr<HostCosts> For(const chips::ChipSpec& chip);
  // The same with one number multiplied, to see what it moves.
  absl::StatusOr<HostCosts> WithScaled(absl::string_view key,
                                       double factor) const;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_HOST_COSTS_H_
