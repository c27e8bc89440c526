// What the host of a TPU costs: tracing, step barrier, dispatch, transfers and
// XLA's compile time. The numbers stand in data/host.textproto with unit,
// source and confidence; a chip file overrides them by key ("host.launch").
//
//   ASSIGN_OR_RETURN(HostCosts costs, HostCosts::For(chip));
//   Picoseconds trace = costs.trace_node * nodes;
#ifndef PTXLA_RUNTIME_HOST_COSTS_H_
#define PTXLA_RUNTIME_HOST_COSTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "chips/chip_spec.h"

namespace ptxla::runtime {

struct HostCosts {
  Picoseconds trace_node;       // an IR node: python, autograd, ATen dispatch
  Picoseconds collect_tensor;   // a live tensor at a step barrier
  Picoseconds post_order_node;  // a node of the walk, with its share of hash
  Picoseconds barrier;          // the device lock when nobody holds it
  Picoseconds lower_node;       // a node lowered to HLO on a cache miss
  Picoseconds launch;           // dispatch thread, per execution
  Picoseconds read_back;        // round trip of a blocking read
  Picoseconds transfer_issue;   // tracing thread, per host-to-device transfer
  BytesPerSecond pcie{0};       // host to device
  int queue_depth = 1;          // executions in flight
  Picoseconds compile_fixed;    // XLA, per compilation
  Picoseconds compile_instruction;  // XLA, per HLO instruction traced
  double compile_band = 0;          // +- fraction of a predicted compile time

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
