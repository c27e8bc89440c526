// How fast a movement's blocks are found.
//   movement_benchmark --benchmark_filter=Padded
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/movement/row_plan.h"

namespace ptxla::lowering {
namespace {

// Every number of steps of a pad to whole tiles, all of whose rows are
// compared.
void BM_BlocksOfPaddedRows(benchmark::State& state) {
  auto module = hlo::ParseModule(R"(HloModule m
ENTRY e {
  p = f32[1000,768] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[1024,768] pad(p, z), padding=0_24x0_0
})");
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
BENCHMARK(BM_BlocksOfPaddedRows)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ptxla::lowering
