// The whole chain, and each stage of it, on BERT-Large's training step on
// v5e-8: docs/speed.md says what they may take. Times are CPU time.
//
//   chain_benchmark --benchmark_filter=Run             from trace to report
//   chain_benchmark --benchmark_filter=Passes          one counter per pass, ms
#include <ctime>

#include "base/check.h"
#include "benchmark/benchmark.h"
#include "benchmarks/traced_module.h"
#include "driver/prediction.h"
#include "hlo_backend/compiler/chip_cost_model.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/all_passes.h"
#include "reports/database.h"
#include "reports/json_report.h"
#include "reports/summary.h"
#include "sim/core/timing_cache.h"
#include "sim/simulator.h"

namespace ptxla {
namespace {

constexpr char kWorkload[] = "bert";
constexpr char kTopology[] = "v5e-8";

chips::Slice TheSlice() {
  auto slice = chips::ParseSlice(kTopology);
  CHECK(slice.ok());
  return *std::move(slice);
}

driver::RunRequest Request() {
  driver::RunRequest request;
  request.workload = kWorkload;
  request.topology = kTopology;
  return request;
}

double CpuMs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 +
         static_cast<double>(t.tv_nsec) * 1e-6;
}

hlo::CompiledModule Compiled(const chips::Slice& slice,
                             std::unique_ptr<hlo::Module> module,
                             const hlo::CompileOptions& options = {}) {
  auto compiled =
      hlo::Compile(std::move(module), slice.chip, slice.topology, options);
  CHECK(compiled.ok()) << compiled.status().ToString();
  return *std::move(compiled);
}

void Run(benchmark::State& state, int layers) {
  driver::RunRequest request = Request();
  if (layers > 0) request.settings = {"layers=" + std::to_string(layers)};
  for (auto _ : state) {
    auto prediction = driver::Predict(request);
    CHECK(prediction.ok()) << prediction.status().ToString();
    benchmark::DoNotOptimize(prediction);
  }
}
// Equal layers cost less than the first.
BENCHMARK_CAPTURE(Run, all_layers, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Run, layers_6, 6)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Run, layers_96, 96)->Unit(benchmark::kMillisecond);

// Counters: CPU milliseconds of each pass, all its runs together.
void Passes(benchmark::State& state) {
  const chips::Slice slice = TheSlice();
  const auto traced = TracedModule(kWorkload, 8);
  auto probe = traced->Clone();
  auto reports = hlo::RunPasses(probe.get(), slice.chip);
  CHECK(reports.ok()) << reports.status().ToString();
  const hlo::ChipCostModel cost(slice.chip);
  hlo::PassContext context;
  context.chip = &slice.chip;
  context.cost = &cost;
  for (auto _ : state) {
    state.PauseTiming();
    auto module = traced->Clone();
    state.ResumeTiming();
    for (const hlo::PassReport& report : *reports) {
      auto pass = hlo::MakePass(report.name);
      CHECK(pass.ok());
      const double begin = CpuMs();
      CHECK((*pass)->Run(module.get(), context).ok());
      state.counters[report.name] += CpuMs() - begin;
    }
  }
  for (auto& [name, counter] : state.counters) {
    counter.flags = benchmark::Counter::kAvgIterations;
  }
  state.counters["instructions"] =
      static_cast<double>(traced->instruction_count());
}
BENCHMARK(Passes)->Unit(benchmark::kMillisecond);

void Verify(benchmark::State& state) {
  const auto traced = TracedModule(kWorkload, 8);
  for (auto _ : state) CHECK(hlo::VerifyModule(*traced).ok());
}
BENCHMARK(Verify)->Unit(benchmark::kMillisecond);

void PlanBuffers(benchmark::State& state) {
  const chips::Slice slice = TheSlice();
  auto module = TracedModule(kWorkload, 8);
  CHECK(hlo::RunPasses(module.get(), slice.chip).ok());
  for (auto _ : state) {
    benchmark::DoNotOptimize(hlo::PlanBuffers(*module, slice.chip));
  }
}
BENCHMARK(PlanBuffers)->Unit(benchmark::kMillisecond);

// Of a scheduled module: buffers and lowering. `again`: with the kernels of an
// earlier program of the run.
void Lower(benchmark::State& state, const char* workload, bool again) {
  const chips::Slice slice = TheSlice();
  const hlo::CompiledModule first = Compiled(slice, TracedModule(workload, 8));
  hlo::CompileOptions options;
  if (again) options.earlier = lowering::TheseProgramsFirst({&first.program});
  for (auto _ : state) {
    state.PauseTiming();
    auto module = first.module->Clone();
    state.ResumeTiming();
    const hlo::CompiledModule compiled =
        Compiled(slice, std::move(module), options);
    state.counters["kernels"] =
        static_cast<double>(compiled.effort.distinct_kernels);
    state.counters["calls"] = static_cast<double>(compiled.effort.kernels);
  }
}
BENCHMARK_CAPTURE(Lower, first, kWorkload, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Lower, again, kWorkload, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Lower, convolutions, "resnet50", false)
    ->Unit(benchmark::kMillisecond);

// `again`: with the static timings of the kernels, as for an assumed number.
void Simulate(benchmark::State& state, bool again) {
  const chips::Slice slice = TheSlice();
  const hlo::CompiledModule compiled =
      Compiled(slice, TracedModule(kWorkload, 8));
  sim::TimingCache timings;
  sim::SimOptions options;
  if (again) options.timings = &timings;
  for (auto _ : state) {
    auto trace = sim::Simulate(compiled.program, slice, options);
    CHECK(trace.ok());
    benchmark::DoNotOptimize(trace);
  }
}
BENCHMARK_CAPTURE(Simulate, first, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Simulate, again, true)->Unit(benchmark::kMillisecond);

record::RunRecord Record() {
  auto prediction = driver::Predict(Request());
  CHECK(prediction.ok());
  prediction->record.set_run_id("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  return std::move(prediction->record);
}

void Report(benchmark::State& state) {
  const record::RunRecord record = Record();
  for (auto _ : state) {
    benchmark::DoNotOptimize(reports::RunJson(record));
    benchmark::DoNotOptimize(reports::RenderSummary(record, {}));
  }
}
BENCHMARK(Report)->Unit(benchmark::kMillisecond);

void SaveToDatabase(benchmark::State& state) {
  const record::RunRecord record = Record();
  for (auto _ : state) {
    auto database = reports::Database::Open(":memory:");
    CHECK(database.ok()) << database.status().ToString();
    CHECK(database->Save(record).ok());
  }
}
BENCHMARK(SaveToDatabase)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla
