// Why one op of a compiled and simulated program takes its time: the kernel
// that the lowering chose, the tilings that it chose from, and an account of
// every cycle.
//
//   ASSIGN_OR_RETURN(record::Explanation e,
//                    ExplainOp(in, "fusion.3"));
#ifndef PTXLA_DRIVER_EXPLAIN_EXPLAIN_H_
#define PTXLA_DRIVER_EXPLAIN_EXPLAIN_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/topology.h"
#include "driver/explain/find_op.h"
#include "hlo_backend/ir/module.h"
#include "isa/program.h"
#include "record/device_trace.pb.h"
#include "record/explanation.pb.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

struct ExplainInput {
  const chips::Slice& slice;
  const hlo::Module& module;  // scheduled, as it was lowered
  const OriginMap& origins;   // of the module before compilation
  const isa::Program& program;
  const record::DeviceTrace& trace;
  const record::ProgramRecord& record;
};

// NotFound: no such op; names the nearest. FailedPrecondition: the trace has
// no cycles of its kernel (fidelity roofline).
absl::StatusOr<record::Explanation> ExplainOp(const ExplainInput& in,
                                              absl::string_view asked);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_EXPLAIN_H_
