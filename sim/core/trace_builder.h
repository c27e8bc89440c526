// Cycles of a Recorder to a DeviceTrace in picoseconds. Edges of the clock are
// converted, not durations, so that the parts of an interval sum to it exactly.
#ifndef PTXLA_SIM_CORE_TRACE_BUILDER_H_
#define PTXLA_SIM_CORE_TRACE_BUILDER_H_

#include "isa/program.h"
#include "record/device_trace.pb.h"
#include "sim/core/device_model.h"
#include "sim/core/recorder.h"

namespace ptxla::sim {

record::DeviceTrace BuildTrace(const isa::Program& program,
                               const DeviceModel& device,
                               const Recorder& recorder, bool transfers);

// The bounds of [start, start + bounds.total()) in picoseconds.
record::BoundBreakdown ToPicoseconds(const BoundCycles& bounds, int64_t start,
                                     const Clock& clock);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_TRACE_BUILDER_H_
