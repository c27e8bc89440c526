#include "driver/look_ahead.h"

#include <utility>
#include <variant>
#include <vector>

#include "driver/run_request.h"
#include "driver/workload_config.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/printer.h"
#include "isa/asm.h"
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

bool IsNothing(const CompiledAhead& ahead) {
  return std::holds_alternative<std::monostate>(ahead);
}

TEST(LookAheadTest, TheSecondProgramIsTheOneThatTheRunWouldMake) {
  ASSERT_OK_AND_ASSIGN(const workloads::WorkloadSpec spec, OneLayer());
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  hlo::CompiledModule first;
  hlo::CompileOptions options;
  options.earlier = lowering::TheseProgramsFirst({&first.program});
  LookAhead ahead(spec, slice, options);
  Graphs graphs;
  {
    lazy::Device device(&graphs);
    ASSERT_OK_AND_ASSIGN(auto workload,
                         workloads::MakeWorkload(spec, &device, {kReplicas}));
    for (int step = 0; step < 3; ++step) ASSERT_OK(workload->Step());
  }
  ASSERT_EQ(graphs.hashes.size(), 3u);
  EXPECT_EQ(graphs.hashes[1], graphs.hashes[2]);
  ASSERT_OK_AND_ASSIGN(first, hlo::Compile(std::move(graphs.modules[0]),
                                           slice.chip, slice.topology));
  ahead.GoOn();
  const CompiledAhead second = ahead.Take(graphs.hashes[1]);
  const auto* compiled = std::get_if<hlo::CompiledModule>(&second);
  ASSERT_TRUE(compiled != nullptr);
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule expected,
                       hlo::Compile(std::move(graphs.modules[1]), slice.chip,
                                    slice.topology, options));
  EXPECT_EQ(hlo::Print(*compiled->module), hlo::Print(*expected.module));
  EXPECT_EQ(isa::Print(compiled->program), isa::Print(expected.program));
  EXPECT_TRUE(IsNothing(ahead.Take(graphs.hashes[1]))) << "taken";
  EXPECT_TRUE(IsNothing(ahead.Take(graphs.hashes[0]))) << "the first";
}

TEST(LookAheadTest, ARunThatEndsEarlyDoesNotWaitForever) {
  ASSERT_OK_AND_ASSIGN(const workloads::WorkloadSpec spec, OneLayer());
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  LookAhead ahead(spec, slice, {});
  EXPECT_TRUE(IsNothing(ahead.Take(12345)));
}

TEST(LookAheadTest, NobodyHasToAskForWhatWasBegun) {
  ASSERT_OK_AND_ASSIGN(const workloads::WorkloadSpec spec, OneLayer());
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v5e-8"));
  const LookAhead ahead(spec, slice, {});
}

}  // namespace
}  // namespace ptxla::driver
