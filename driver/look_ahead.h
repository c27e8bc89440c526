// Traces the first steps of a workload a second time, beside the run, and runs
// the passes on the programs that come after the first: with that the passes of
// the second program and the kernels of the first are made at the same time.
//
//   LookAhead ahead(spec, slice, session.PassOptions());
//   ... the first program is compiled ...
//   std::optional<hlo::PassedModule> next = ahead.Take(hash);   // may wait
//
// Nothing depends on it: what it has not got, whoever asks makes himself, and
// tracing gives the same module each time.
#ifndef PTXLA_DRIVER_LOOK_AHEAD_H_
#define PTXLA_DRIVER_LOOK_AHEAD_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "chips/topology.h"
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

  // The program of this graph, once; waits while it may still come. The first
  // program never does.
  std::optional<hlo::PassedModule> Take(uint64_t graph_hash);

 private:
  class Tracer;

  void Run();
  void Prepare(const lazy::SyncGraph& sync);

  const workloads::WorkloadSpec& spec_;
  const chips::Slice& slice_;
  const hlo::CompileOptions options_;
  absl::flat_hash_set<uint64_t> seen_;  // of the thread
  absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, hlo::PassedModule> ready_
      ABSL_GUARDED_BY(mutex_);
  bool is_over_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // the last: it uses all the others
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_LOOK_AHEAD_H_
