#include "driver/look_ahead.h"

#include <vector>

#include "driver/run_request.h"
#include "driver/workload_config.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/printer.h"
#include "lazy/device.h"
#include "lazy/lowering.h"
#include "tests/support/status_matchers.h"
#include "workloads/catalog.h"

namespace ptxla::driver {
namespace {

constexpr int kReplicas = 8;

// The graphs of a run, as the device's own executor sees them.
class Graphs : public lazy::Executor {
 public:
  void OnNode(const lazy::Device&, const lazy::Node&) override {}
  void OnTransferToDevice(const lazy::DeviceData&) override {}
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    if (sync.tensors.empty()) return absl::OkStatus();
    lazy::LoweringOptions options;
    options.donors = sync.donors;
    options.replica_count = kReplicas;
    modules.push_back(lazy::LowerToHlo(sync.graph, options).value());
    hashes.push_back(sync.hash);
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("");
  }

  std::vector<uint64_t> hashes;
  std::vector<std::unique_ptr<hlo::Module>> modules;
};

absl::StatusOr<workloads::WorkloadSpec> OneLayer() {
  RunRequest request;
  request.workload = "bert";
  request.settings = {"layers=1"};
  return ResolveWorkload(request);
}

TEST(LookAheadTest, TheSecondProgramIsTheOneThatTheRunWouldMake) {
  ASSERT_OK_AND_ASSIGN(const workloads::WorkloadSpec spec, OneLayer());
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  LookAhead ahead(spec, slice, {});
  Graphs graphs;
  {
    lazy::Device device(&graphs);
    ASSERT_OK_AND_ASSIGN(auto workload,
                         workloads::MakeWorkload(spec, &device, {kReplicas}));
    for (int step = 0; step < 3; ++step) ASSERT_OK(workload->Step());
  }
  ASSERT_EQ(graphs.hashes.size(), 3u);
  EXPECT_EQ(graphs.hashes[1], graphs.hashes[2]);
  const std::optional<hlo::PassedModule> passed = ahead.Take(graphs.hashes[1]);
  ASSERT_TRUE(passed.has_value());
  ASSERT_OK(hlo::RunPasses(graphs.modules[1].get(), slice.chip).status());
  EXPECT_EQ(hlo::Print(*passed->module), hlo::Print(*graphs.modules[1]));
  EXPECT_FALSE(ahead.Take(graphs.hashes[1]).has_value()) << "taken";
  EXPECT_FALSE(ahead.Take(graphs.hashes[0]).has_value()) << "the first";
}

TEST(LookAheadTest, ARunThatEndsEarlyDoesNotWaitForever) {
  ASSERT_OK_AND_ASSIGN(const workloads::WorkloadSpec spec, OneLayer());
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  LookAhead ahead(spec, slice, {});
  EXPECT_FALSE(ahead.Take(12345).has_value());
}

}  // namespace
}  // namespace ptxla::driver
