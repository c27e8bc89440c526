#include "benchmarks/traced_module.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "lazy/device.h"
#include "lazy/lowering.h"
#include "lazy/sync.h"
#include "workloads/catalog.h"

namespace ptxla {
namespace {

// Keeps the module of the latest barrier.
class Keeper : public lazy::Executor {
 public:
  void OnNode(const lazy::Device&, const lazy::Node&) override {}
  void OnTransferToDevice(const lazy::DeviceData&) override {}
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    lazy::LoweringOptions options;
    options.donors = sync.donors;
    auto lowered = lazy::LowerToHlo(sync.graph, options);
    CHECK(lowered.ok()) << lowered.status().ToString();
    module = *std::move(lowered);
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("no numbers here");
  }

  std::unique_ptr<hlo::Module> module;
};

}  // namespace

std::unique_ptr<hlo::Module> TracedModule(absl::string_view workload,
                                          int replicas) {
  Keeper keeper;
  lazy::Device device(&keeper);
  auto spec = workloads::FindWorkload(std::string(workload));
  CHECK(spec.ok()) << spec.status().ToString();
  auto steps = workloads::MakeWorkload(*spec, &device, {replicas});
  CHECK(steps.ok()) << steps.status().ToString();
  for (int step = 0; step < 2; ++step) CHECK((*steps)->Step().ok());
  return std::move(keeper.module);
}

}  // namespace ptxla
