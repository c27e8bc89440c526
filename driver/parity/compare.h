// `ptxla-sim compare`: one program, scheduled by two compilers.
//
//   CompareRequest request;
//   request.run.hlo = "step.hlo";
//   request.run.topology = "v5e-1";
//   request.run.compiler = "libtpu";
//   ASSIGN_OR_RETURN(ComparedCompilers c, CompareFiles(request));
//   c.kernels.total.CostPs()   // how much longer theirs takes
//
// Both are run with our bundles and windows on our machine: a difference is one
// of what was fused, laid out and prefetched.
#ifndef PTXLA_DRIVER_PARITY_COMPARE_H_
#define PTXLA_DRIVER_PARITY_COMPARE_H_

#include <string>

#include "absl/status/statusor.h"
#include "driver/parity/schedule_comparison.h"
#include "driver/run_request.h"

namespace ptxla::driver {

struct CompareRequest {
  // hlo and how to read it, topology, compiler with its Python and cache, what
  // to do with unknown ops and trip counts; nothing else of it.
  RunRequest run;
  // A file with another schedule of the same program; "": what run.compiler
  // makes of it.
  std::string other;
};

struct ComparedCompilers {
  std::string program, topology;
  std::string there, here;  // "libtpu 0.0.42.1, jax 0.10.2", "ptxla-sim"
  ScheduleComparison kernels;
  // Why the two are not one program, as their arguments say; "": they may be.
  std::string warning;
};

// Errors are marked with their stage and say which of the two sides failed.
absl::StatusOr<ComparedCompilers> CompareFiles(const CompareRequest& request);

// Sums, then the `top` largest differences; 0: all.
std::string ComparisonText(const ComparedCompilers& c, int top);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_COMPARE_H_
