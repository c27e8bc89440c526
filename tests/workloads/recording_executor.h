// An executor that keeps what barriers would compile, and computes nothing.
#ifndef PTXLA_TESTS_WORKLOADS_RECORDING_EXECUTOR_H_
#define PTXLA_TESTS_WORKLOADS_RECORDING_EXECUTOR_H_

#include <memory>
#include <set>
#include <vector>

#include "base/status.h"
#include "lazy/lowering.h"
#include "lazy/sync.h"

namespace ptxla::workloads {

class RecordingExecutor : public lazy::Executor {
 public:
  void OnNode(const lazy::Device&, const lazy::Node&) override {
    ++nodes_traced;
  }
  void OnTransferToDevice(const lazy::DeviceData&) override { ++transfers; }
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    graph_sizes.push_back(static_cast<int>(sync.graph.nodes.size()));
    donor_counts.push_back(static_cast<int>(sync.donors.size()));
    if (hashes.insert(sync.hash).second) {
      ++compiles;
      lazy::LoweringOptions o = options;
      o.donors = sync.donors;
      ASSIGN_OR_RETURN(last_module, lazy::LowerToHlo(sync.graph, o));
    }
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("no numbers here");
  }

  lazy::LoweringOptions options = lazy::DumpForm();
  std::unique_ptr<hlo::Module> last_module;
  std::set<uint64_t> hashes;
  std::vector<int> graph_sizes, donor_counts;
  int64_t nodes_traced = 0, transfers = 0;
  int compiles = 0;
};

}  // namespace ptxla::workloads

#endif  // PTXLA_TESTS_WORKLOADS_RECORDING_EXECUTOR_H_
