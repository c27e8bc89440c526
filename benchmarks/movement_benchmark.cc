// How fast a movement's blocks are found.
//   movement_benchmark --benchmark_filter=padded
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/movement/row_plan.h"

namespace ptxla::lowering {
namespace {

// Every number of steps of a pad, all of whose rows are compared.
void BlocksOf(benchmark::State& state, const char* text) {
  auto module = hlo::ParseModule(text);
  CHECK(module.ok()) << module.status();
  for (hlo::Instruction* i : (*module)->entry()->instructions()) {
    *i->mutable_shape() = hlo::WithTpuLayout(i->shape(), 6);
  }
  for (auto _ : state) {
    auto plan = RowPlan::Of(*(*module)->entry()->root());
    CHECK(plan.ok()) << plan.status();
    const int64_t rows = plan->result().count();
    RowPlan::Blocks blocks;
    int found = 0;
    for (int64_t steps = 1; steps <= 1024; ++steps) {
      if (rows % steps == 0) found += plan->Split(steps, &blocks);
    }
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK_CAPTURE(BlocksOf, padded_rows, R"(HloModule m
ENTRY e {
  p = f32[1000,768] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[1024,768] pad(p, z), padding=0_24x0_0
})")
    ->Unit(benchmark::kMillisecond);
// Padding beside elements in every row of lanes.
BENCHMARK_CAPTURE(BlocksOf, padded_lanes, R"(HloModule m
ENTRY e {
  p = f32[4096,80] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[4096,128] pad(p, z), padding=0_0x8_40
})")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla::lowering
