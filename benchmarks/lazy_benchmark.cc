// What a step costs before XLA sees it, on this machine: tracing (forward,
// backward, optimizer), the barrier's walk and hash, lowering to HLO, letting
// the graph go. BERT-Large is 15,130 lazy nodes and 26,683 instructions; real
// torch_xla took 274 + 275 ms for tracing and lowering it.
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "lazy/device.h"
#include "lazy/graph_text.h"
#include "lazy/lowering.h"
#include "lazy/sync.h"
#include "workloads/catalog.h"

namespace ptxla {
namespace {

// Does at a barrier what the benchmark is about, and counts.
class Barrier : public lazy::Executor {
 public:
  explicit Barrier(bool lower) : lower_(lower) {}
  void OnNode(const lazy::Device&, const lazy::Node&) override { ++nodes; }
  void OnTransferToDevice(const lazy::DeviceData&) override {}
  absl::Status Sync(lazy::Device* device) override {
    const lazy::SyncGraph sync = lazy::CollectSync(device);
    benchmark::DoNotOptimize(sync.hash);
    if (lower_) {
      lazy::LoweringOptions options;
      options.donors = sync.donors;
      auto module = lazy::LowerToHlo(sync.graph, options);
      CHECK(module.ok());
      instructions = (*module)->instruction_count();
    }
    lazy::FinishSync(sync, lazy::MakeOutputBuffers(device, sync));
    return absl::OkStatus();
  }
  absl::StatusOr<hlo::Literal> Read(lazy::Device*, lazy::LazyTensor*) override {
    return absl::UnimplementedError("no numbers here");
  }

  int64_t nodes = 0, instructions = 0;

 private:
  bool lower_;
};

void Steps(benchmark::State& state, const char* workload, bool lower) {
  Barrier barrier(lower);
  lazy::Device device(&barrier);
  auto spec = workloads::FindWorkload(workload);
  CHECK(spec.ok());
  auto steps = workloads::MakeWorkload(*spec, &device, {8});
  CHECK(steps.ok());
  CHECK((*steps)->Step().ok());  // makes the optimizer's state
  int64_t before = 0;
  for (auto _ : state) {
    before = barrier.nodes;
    CHECK((*steps)->Step().ok());
  }
  state.counters["nodes"] = static_cast<double>(barrier.nodes - before);
  state.counters["instructions"] = static_cast<double>(barrier.instructions);
}

void BM_Trace(benchmark::State& state, const char* workload) {
  Steps(state, workload, /*lower=*/false);
}
void BM_TraceAndLower(benchmark::State& state, const char* workload) {
  Steps(state, workload, /*lower=*/true);
}

BENCHMARK_CAPTURE(BM_Trace, mlp, "mlp")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Trace, bert, "bert")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_TraceAndLower, mlp, "mlp")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_TraceAndLower, bert, "bert")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla
