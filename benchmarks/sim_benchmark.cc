// What the simulator itself costs: a step of 3,000 kernel calls at both
// fidelities and engines, a long grid, a slice of 9,216 chips.
#include <algorithm>
#include <random>

#include "benchmark/benchmark.h"
#include "sim/simulator.h"
#include "tests/sim/test_programs.h"

namespace ptxla::sim {
namespace {

isa::Program ManyCalls() {
  std::mt19937 random(1);
  isa::Program p;
  for (int k = 0; k < 150; ++k) {
    StreamKernel s = RandomStream(&random);
    s.grid = {8, static_cast<int64_t>(1 + random() % 40)};
    for (int& m : s.moves_with) m = std::min(m, 1);
    AddKernel(&p, MakeStreamKernel(s));
  }
  const isa::Schedule calls = p.schedule;
  while (p.schedule.size() < 3000) {
    p.schedule.push_back(calls[random() % calls.size()]);
  }
  return p;
}

void Calls(benchmark::State& state, Fidelity fidelity, Engine engine) {
  const isa::Program p = ManyCalls();
  const chips::Slice slice = TestSlice("v5e-8");
  SimOptions options;
  options.fidelity = fidelity;
  options.engine = engine;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Simulate(p, slice, options));
  }
}
BENCHMARK_CAPTURE(Calls, kernel_systemc, Fidelity::kKernel, Engine::kSystemC)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Calls, kernel_plain, Fidelity::kKernel, Engine::kPlain)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Calls, tile_systemc, Fidelity::kTile, Engine::kSystemC)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Calls, tile_plain, Fidelity::kTile, Engine::kPlain)
    ->Unit(benchmark::kMillisecond);

void LongGrid(benchmark::State& state) {
  isa::Program p;
  StreamKernel s;
  s.grid = {256, 4, 256, 14};
  s.moves_with = {0, 1};
  AddKernel(&p, MakeStreamKernel(s));
  const chips::Slice slice = TestSlice("unit");
  for (auto _ : state) benchmark::DoNotOptimize(Simulate(p, slice, {}));
}
BENCHMARK(LongGrid)->Unit(benchmark::kMillisecond);

void LargeSlice(benchmark::State& state) {
  const chips::Slice slice = TestSlice("tpu7x-18432");
  isa::Program p;
  p.num_partitions = slice.topology.num_devices();
  isa::CollectiveStart start;
  start.bytes = 64 << 20;
  for (int i = 0; i < 100; ++i) {
    p.schedule.push_back({Info("all-reduce-start", "all-reduce-start"), start});
    p.schedule.push_back(
        {Info("all-reduce-done", "all-reduce-done"), isa::CollectiveDone()});
  }
  for (auto _ : state) benchmark::DoNotOptimize(Simulate(p, slice, {}));
}
BENCHMARK(LargeSlice)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla::sim
