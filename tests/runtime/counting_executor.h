// An executor that counts what tracing asks of the host, and runs nothing.
#ifndef PTXLA_TESTS_RUNTIME_COUNTING_EXECUTOR_H_
#define PTXLA_TESTS_RUNTIME_COUNTING_EXECUTOR_H_

#include "lazy/device.h"
#include "lazy/sync.h"
#include "runtime/trace_counter.h"

namespace ptxla::runtime::testing {

// Counts what tracing asks of the host; compiles and runs nothing.
class CountingExecutor : public lazy::Executor {
 public:
  void OnNode(const lazy::Device& device, const lazy::Node& node) override {
    counter_.OnNode(device, node);
  }
  void OnInPlace(const lazy::Device&, const lazy::Node& node) override {
    counter_.OnInPlace(node);
  }
  void OnTransferToDevice(const lazy::DeviceData&) override {}
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("no numbers here");
  }
  int64_t Take(HostWork work) {
    return counter_.Take()[static_cast<size_t>(work)];
  }
  PerHostWork<int64_t> TakeAll() { return counter_.Take(); }

 private:
  TraceCounter counter_;
};

}  // namespace ptxla::runtime::testing

#endif  // PTXLA_TESTS_RUNTIME_COUNTING_EXECUTOR_H_
