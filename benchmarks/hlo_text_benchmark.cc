// Reading, checking, copying and printing a module of 40,000 instructions: a
// stack of layers, each a fused-looking chain with products and reductions.
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {
namespace {

constexpr int kInstructions = 40000;

std::unique_ptr<Module> BigModule() {
  auto module = std::make_unique<Module>("big");
  Builder b(module->AddComputation("main"));
  Instruction* x = b.Parameter(0, Shape::ArrayRowMajor(kF32, {128, 1024}), "x");
  Instruction* w =
      b.Parameter(1, Shape::ArrayRowMajor(kF32, {1024, 1024}), "w");
  Instruction* zero = b.Zero(kF32);
  Computation* add = b.Scalar2(Opcode::kAdd, kF32);
  while (b.computation()->instruction_count() < kInstructions) {
    Metadata metadata;
    metadata.op_name = "jit(step)/layer/attention/dot_general";
    metadata.source_file = "model/attention.py";
    metadata.source_line = 120;
    b.set_metadata(std::make_shared<const Metadata>(std::move(metadata)));
    Instruction* y = b.MatMul(x, w);
    Instruction* sum = b.Reduce(y, zero, {1}, add);
    Instruction* scale = b.Broadcast(b.Rsqrt(sum), {128, 1024}, {0});
    x = b.Add(x, b.Multiply(b.Tanh(y), scale));
  }
  module->SetEntry(b.computation());
  return module;
}

void BM_Build(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(BigModule());
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Build)->Unit(benchmark::kMillisecond);

void BM_Print(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) benchmark::DoNotOptimize(Print(*module));
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Print)->Unit(benchmark::kMillisecond);

void BM_Parse(benchmark::State& state) {
  const std::string text = Print(*BigModule());
  for (auto _ : state) CHECK(ParseModule(text).ok());
  state.SetItemsProcessed(state.iterations() * kInstructions);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(text.size()));
}
BENCHMARK(BM_Parse)->Unit(benchmark::kMillisecond);

void BM_Verify(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) CHECK(VerifyModule(*module).ok());
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Verify)->Unit(benchmark::kMillisecond);

void BM_Clone(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) benchmark::DoNotOptimize(module->Clone());
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Clone)->Unit(benchmark::kMillisecond);

void BM_PostOrder(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) benchmark::DoNotOptimize(module->entry()->PostOrder());
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_PostOrder)->Unit(benchmark::kMillisecond);

void BM_Fingerprint(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) benchmark::DoNotOptimize(FingerprintOf(*module));
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Fingerprint)->Unit(benchmark::kMillisecond);

void BM_Cost(benchmark::State& state) {
  const auto module = BigModule();
  for (auto _ : state) benchmark::DoNotOptimize(CostAnalysis().Of(*module));
  state.SetItemsProcessed(state.iterations() * kInstructions);
}
BENCHMARK(BM_Cost)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla::hlo
