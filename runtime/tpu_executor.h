// The simulated TPU behind lazy tensors: what torch_xla's XLAGraphExecutor does
// at a step barrier and when a value is read, on simulated clocks.
//
//   TpuExecutor executor(costs, [&](auto module, auto info) {
//     return CompileAndSimulate(std::move(module));   // -> Executable
//   });
//   lazy::Device device(&executor);
//   for (int step = 0; step < 3; ++step) {
//     TrainStep(&device);
//     RETURN_IF_ERROR(device.Sync());
//   }
//   SteadyStep s = SteadyState(executor.steps().back().log, costs);
//
// A step barrier: collect the pending tensors; walk and hash their graph; wait
// for the dispatch thread if a parameter is still being made; look the hash
// up; on a miss lower to HLO and compile, which keeps the tracing thread; take
// the device lock; give the program to the dispatch thread and go on.
//
// Reading a value runs the tensor's graph alone (nothing is cut or donated; the
// same work is part of the next barrier again), waits for the device, and then
// answers Unimplemented: this device has clocks, not numbers.
#ifndef PTXLA_RUNTIME_TPU_EXECUTOR_H_
#define PTXLA_RUNTIME_TPU_EXECUTOR_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/module.h"
#include "lazy/device.h"
#include "lazy/executor.h"
#include "lazy/sync.h"
#include "record/run_record.pb.h"
#include "runtime/compile_cache.h"
#include "runtime/host_costs.h"
#include "runtime/metrics.h"
#include "runtime/steady_state.h"
#include "runtime/trace_counter.h"

namespace ptxla::runtime {

// A compiled program, as far as the host's clocks are concerned.
struct Executable {
  std::string name;
  int program = 0;           // for the owner of the compile function
  Picoseconds device_time;   // of one execution
  Picoseconds compile_time;  // of XLA on the host
};

// The graph that a module was lowered from.
struct GraphInfo {
  uint64_t hash = 0;
  int64_t nodes = 0;
  // Its lazy form, for the time of the call, and the parameters that it may
  // overwrite.
  const lazy::SyncGraph* traced = nullptr;
  std::vector<std::string> parameter_labels;  // per HLO parameter
};

using CompileFunction = std::function<absl::StatusOr<Executable>(
    std::unique_ptr<hlo::Module> module, const GraphInfo& info)>;

// What one step did: between one barrier and the next.
struct StepTrace {
  record::StepRecord record;
  StepLog log;
  int program = -1;  // of its barrier; -1: nothing was pending
};

// One execution on the device, in the order of launches.
struct ExecutionTrace {
  int program = 0;
  Execution times;
};

struct TpuExecutorOptions {
  int64_t replica_count = 1;
  bool record_spans = false;  // for a timeline
};

class TpuExecutor : public lazy::Executor {
 public:
  TpuExecutor(const HostCosts& costs, CompileFunction compile,
              TpuExecutorOptions options = {});

  void OnNode(const lazy::Device& device, const lazy::Node& node) override;
  void OnInPlace(const lazy::Device& device, const lazy::Node& node) override;
  void OnTransferToDevice(const lazy::DeviceData& data) override;
  absl::Status Sync(lazy::Device* device) override;
  absl::StatusOr<hlo::Literal> Read(lazy::Device* device,
                                    lazy::LazyTensor* tensor) override;

  const std::vector<StepTrace>& steps() const { return steps_; }
  const std::vector<ExecutionTrace>& executions() const { return executions_; }
  const std::vector<Span>& spans() const { return replay_.timelines().spans(); }
  const Metrics& metrics() const { return metrics_; }

 private:
  struct Timing {  // of one graph that was run
    const Executable* executable = nullptr;
    Execution execution;
    bool cached = false;
    Picoseconds sync, compile;
  };
  absl::StatusOr<Timing> RunGraph(const lazy::SyncGraph& sync);
  // The barrier's tensors hold the buffers that the program computes.
  void HandOver(lazy::Device* device, const lazy::SyncGraph& sync,
                const Execution& execution);
  absl::StatusOr<const Executable*> Compile(const lazy::SyncGraph& sync,
                                            Timing* timing);
  std::optional<Execution> Apply(HostEvent event, const std::string& name = "");
  void FlushTracing();
  void CountNodes();  // as counters xla::<op>
  Picoseconds now() const { return replay_.timelines().tracing(); }

  CompileFunction compile_;
  TpuExecutorOptions options_;
  Replay replay_;
  CompileCache<Executable> cache_;
  Metrics metrics_;
  TraceCounter counter_;  // of what is traced and not yet on the clock
  std::array<int64_t, 256> nodes_of_kind_{};  // OpKind has 8 bits
  int64_t tensors_counted_ = 0;
  StepTrace step_;  // since the last barrier
  std::vector<StepTrace> steps_;
  std::vector<ExecutionTrace> executions_;
};

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_TPU_EXECUTOR_H_
