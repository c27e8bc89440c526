// Traces the first steps of a workload a second time, beside the run, and runs
// the passes on the programs that come after the first: those of the second
// program run while the first one is compiled. The kernels of the second, which
// takes most of them from the first, are made while the first one is simulated
// and the next step traced.
//
//   LookAhead ahead(spec, slice, session.NextOptions());
//   ... the first program is compiled ...
//   ahead.GoOn();
//   ... and simulated ...
//   CompiledAhead next = ahead.Take(hash);   // may wait
//
// Nothing depends on it: what it has not got, whoever asks makes himself, and
// tracing gives the same module each time.
#ifndef PTXLA_DRIVER_LOOK_AHEAD_H_
#define PTXLA_DRIVER_LOOK_AHEAD_H_

#include <cstdint>
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

  // The first program is compiled: from now on the second one takes kernels
  // from it, and others from the cache of the options. Until Take returns
  // nobody else does, and the first program stays where it is.
  void GoOn();

  // The program of this graph, once; waits while it may still come. The first
  // program never does. Includes GoOn.
  CompiledAhead Take(uint64_t graph_hash);

 private:
  class Tracer;

  void Run();
  bool IsStopped();
  void Prepare(const lazy::SyncGraph& sync);
  CompiledAhead Finish(hlo::PassedModule passed) const;
  // Of the options, once the first is compiled. Cancelled: nobody waits.
  absl::StatusOr<lowering::Programs> AwaitPrograms();

  const workloads::WorkloadSpec& spec_;
  const chips::Slice& slice_;
  const lowering::EarlierPrograms programs_;
  const hlo::CompileOptions options_;
  absl::flat_hash_set<uint64_t> seen_;  // of the thread
  absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, CompiledAhead> ready_ ABSL_GUARDED_BY(mutex_);
  bool may_go_on_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last: it uses all the others
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_LOOK_AHEAD_H_
