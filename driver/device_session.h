// Compiles modules for one slice and runs each program once on the simulated
// device: what stands behind the executor's compile function, and what `run
// --hlo` does with its one module.
//
//   DeviceSession session(slice, host_costs, options, &dump);
//   ASSIGN_OR_RETURN(int p, session.Add(std::move(module), "a1b2c3"));
//   session.programs()[p].trace.total_ps();
#ifndef PTXLA_DRIVER_DEVICE_SESSION_H_
#define PTXLA_DRIVER_DEVICE_SESSION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/dump.h"
#include "driver/explain/find_op.h"
#include "driver/libtpu/libtpu_compiler.h"
#include "driver/run_request.h"
#include "driver/verification/verify_program.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/lowering/lowering_cache.h"
#include "isa/from_chip_spec.h"
#include "isa/program.h"
#include "memory_model/buffer_assignment.h"
#include "record/device_trace.pb.h"
#include "record/explanation.pb.h"
#include "record/run_record.pb.h"
#include "runtime/host_costs.h"
#include "sim/core/timing_cache.h"
#include "sim/simulator.h"

namespace ptxla::driver {

struct SessionOptions {
  sim::Fidelity fidelity = sim::Fidelity::kKernel;
  bool estimate_unknown_ops = false;
  // Of loops whose count depends on data; 0: such loops are refused.
  int64_t assumed_trip_count = 0;
  // The module after every pass, and the results of the bundles against the
  // evaluator (verification/verify_program.h).
  bool verify = false;
  bool prove = false;         // RunRequest::prove
  bool transfers = false;     // record DMAs, for a timeline
  bool keep_modules = false;  // DeviceProgram::module, to explain ops
  // Optimises and schedules instead of our passes; null: ours.
  std::shared_ptr<const LibtpuCompiler> libtpu;
};

// What a user asks for. Errors are marked "arguments".
absl::StatusOr<SessionOptions> MakeSessionOptions(const RunRequest& request);
absl::StatusOr<chips::Slice> FindSlice(const RunRequest& request);

// Whether the slice has as many devices as the module wants.
absl::Status CheckDevices(const hlo::Module& module, const chips::Slice& slice);

struct DeviceProgram {
  isa::Program program;
  std::unique_ptr<hlo::Module> module;        // scheduled; see keep_modules
  OriginMap origins;                          // of module; see keep_modules
  std::shared_ptr<sim::TimingCache> timings;  // of program
  record::DeviceTrace trace;
  record::ProgramRecord record;
  record::CompileRecord compile;
  record::MemoryRecord memory;
  memory::Fit fit;
  hlo::Cost cost;  // of the module as it was handed in
  // hlo::CompiledModule::taken_apart
  std::vector<std::string> taken_apart;
  // What their parts hand on by way of HBM, for want of room in VMEM.
  int64_t parts_through_hbm = 0;
  std::optional<Verification> verification;
};

// What somebody has of a compilation already: nothing, its passes or all of it,
// with NextOptions().
using CompiledAhead =
    std::variant<std::monostate, hlo::PassedModule, hlo::CompiledModule>;

class DeviceSession {
 public:
  // `dump` may be null; both outlive the session.
  DeviceSession(const chips::Slice& slice, const runtime::HostCosts& costs,
                const SessionOptions& options, DumpWriter* dump)
      : slice_(slice),
        costs_(costs),
        options_(options),
        dump_(dump),
        cache_(isa::FromChipSpec(slice.chip)) {}

  // Index into programs(). A program that does not fit is compiled and not
  // simulated: ResourceExhausted with PyTorch/XLA's text, and the program is
  // the last of the list. Other errors add none and are never
  // ResourceExhausted. Errors are marked "compile", "simulate" or "verify";
  // Internal at "verify" says which kernel computes something else. `ahead`: of
  // the same module. `before_simulation` is called once the program is compiled
  // and fits.
  absl::StatusOr<int> Add(std::unique_ptr<hlo::Module> module,
                          const std::string& graph_hash,
                          CompiledAhead ahead = {},
                          const std::function<void()>& before_simulation = {});
  hlo::CompileOptions PassOptions() const;
  // The same, to go on with the kernels that programs() have by then. Whoever
  // makes kernels with them does it while no Add compiles.
  hlo::CompileOptions NextOptions();

  const std::vector<DeviceProgram>& programs() const { return programs_; }
  const chips::Slice& slice() const { return slice_; }

  // Why an op of a program takes its time; needs keep_modules. Errors are
  // ExplainOp's, marked "explain".
  absl::StatusOr<record::Explanation> Explain(int program,
                                              const std::string& op) const;

  // Device time of a program under other numbers of the same chip, without
  // compiling again.
  absl::StatusOr<Picoseconds> Resimulate(int program,
                                         const chips::ChipSpec& chip) const;

 private:
  absl::StatusOr<hlo::CompiledModule> Compile(
      std::unique_ptr<hlo::Module> module, const hlo::CompileOptions& options,
      CompiledAhead ahead) const;

  const chips::Slice& slice_;
  const runtime::HostCosts& costs_;
  SessionOptions options_;
  DumpWriter* dump_;
  lowering::LoweringCache cache_;
  std::vector<DeviceProgram> programs_;
};

// XLA's time for a program of so many HLO instructions, with its band.
record::Band PredictedCompileTime(int64_t instructions,
                                  const runtime::HostCosts& costs);

// Names the fusions that several kernels stand for, "" if there are none.
std::string TakenApartText(const DeviceProgram& program);

// "Ran out of memory in memory space hbm. Used 21.95G of 15.48G hbm. ..."
std::string OutOfMemoryText(const record::MemoryRecord& memory);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_DEVICE_SESSION_H_
