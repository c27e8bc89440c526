// Traces the first steps of a workload a second time, beside the run, and runs
// the passes on the programs that come after the first: those of the second
// program run while the first one is compiled. The rest of the second's
// compilation, which takes kernels of the first, runs while the first one is
// simulated and the next step traced.
//
//   LookAhead ahead(spec, slice, session.PassOptions());
//   ... the first program is compiled ...
//   ahead.GoOn(session.NextOptions());
//   ... and simulated ...
//   CompiledAhead next = ahead.Take(hash);   // may wait
//
// Nothing depends on it: what it has not got, whoever asks makes himself, and
// tracing gives the same module each time.
#ifndef PTXLA_DRIVER_LOOK_AHEAD_H_
#define PTXLA_DRIVER_LOOK_AHEAD_H_

#include <cstdint>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "chips/topology.h"
#include "driver/device_session.h"
#include "hlo_backend/compiler/compiler.h"
#include "lazy/sync.h"
#include "workloads/spec.h"

namespace ptxla::driver {

class LookAhead {
 public:
  // `spec` and `slice` outlive it.
  LookAhead(const workloads::WorkloadSpec& spec, const chips::Slice& slice,
            hlo::CompileOptions options);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  // The first program is compiled: from now on the second one may be, with
  // these options. Until Take returns nobody else uses their cache, and the
  // programs stay where they are.
  void GoOn(hlo::CompileOptions options);

  // The program of this graph, once; waits while it may still come. The first
  // program never does. Before GoOn the passes are all that there is.
  CompiledAhead Take(uint64_t graph_hash);

 private:
  class Tracer;

  void Run();
  bool IsStopped();
  void Prepare(const lazy::SyncGraph& sync);
  // The whole compilation, if the first program's is over before somebody asks.
  CompiledAhead Finish(hlo::PassedModule passed);

  const workloads::WorkloadSpec& spec_;
  const chips::Slice& slice_;
  const hlo::CompileOptions options_;
  absl::flat_hash_set<uint64_t> seen_;  // of the thread
  absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, CompiledAhead> ready_ ABSL_GUARDED_BY(mutex_);
  std::optional<hlo::CompileOptions> next_options_ ABSL_GUARDED_BY(mutex_);
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last: it uses all the others
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_LOOK_AHEAD_H_
