// Runs a compiled program on a simulated slice.
//
//   SimOptions options;
//   options.fidelity = Fidelity::kTile;
//   ASSIGN_OR_RETURN(record::DeviceTrace trace,
//                    Simulate(program, slice, options));
//
// All devices of a slice do the same (SPMD) in a symmetric place, so one of
// them is simulated and stands for all.
//
// Fidelities of one program:
//   roofline  each kernel takes max(flops / peak, bytes / HBM rate)
//   kernel    bundles by static timing, DMA by the exact recurrence; a kernel's
//             result is memoised; overlapping copies share HBM as a fluid,
//             except beside kernels of few steps
//   tile      every DMA and every wait is an event
//   bundle    as tile, with every bundle executed on data by the interpreter
// tile and bundle agree in cycles; kernel equals tile where nothing overlaps.
//
// Errors: InvalidArgument (program and slice do not fit together),
// FailedPrecondition (deadlock; names who waits for what), Internal.
#ifndef PTXLA_SIM_SIMULATOR_H_
#define PTXLA_SIM_SIMULATOR_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/topology.h"
#include "isa/program.h"
#include "record/device_trace.pb.h"

namespace ptxla::sim {

enum class Fidelity { kRoofline, kKernel, kTile, kBundle };
const char* FidelityName(Fidelity fidelity);  // "kernel"
// InvalidArgument with the names that exist.
absl::StatusOr<Fidelity> ParseFidelity(absl::string_view name);

// What drives time: SystemC processes, or the event loop of sim/core. Both call
// the same arithmetic and give the same times.
enum class Engine { kSystemC, kPlain };

class ProgramData;
class TimingCache;

struct SimOptions {
  Fidelity fidelity = Fidelity::kKernel;
  // kSystemC falls back to kPlain in a build without SystemC.
  Engine engine = Engine::kSystemC;
  // Reuse the result of a kernel that runs again in the same situation.
  bool memoize = true;
  // Record transfers for a timeline.
  bool transfers = true;
  // Record ops, collectives and bounds. Else the trace has its total alone: for
  // asking again how long the same program takes.
  bool ops = true;
  // kBundle: the contents of the program's buffers; see
  // sim/core/program_data.h. Null: buffers that hold zeros.
  ProgramData* data = nullptr;
  // Static timings kept from earlier simulations of the same program; see
  // sim/core/timing_cache.h.
  TimingCache* timings = nullptr;
};

absl::StatusOr<record::DeviceTrace> Simulate(const isa::Program& program,
                                             const chips::Slice& slice,
                                             const SimOptions& options = {});

// True in a build that has sim/sc.
bool HasSystemC();

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_SIMULATOR_H_
