// How fast bundles are timed, verified, printed, read and executed.
//   isa_benchmark --benchmark_filter=Execute
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "isa/asm.h"
#include "isa/interpreter.h"
#include "isa/timing.h"
#include "isa/verifier.h"

namespace ptxla::isa {
namespace {

MachineModel Wide() {
  MachineModel m = MachineModel::Unit();
  m.slots.fill(8);
  m.load_store_total = 0;
  m.fifo_depth.fill(0);
  return m;
}

// A loop over `bundles` bundles of a load, a sum and a store each.
Kernel Streaming(int bundles) {
  Block block;
  for (int i = 0; i < bundles; ++i) {
    Instr load{Opcode::kVld};
    load.dst = static_cast<uint8_t>(i % 30);
    load.imm = i % 100 * kVregBytes;
    Instr add{Opcode::kVaddF32};
    add.dst = static_cast<uint8_t>(32 + i % 30);
    add.a = static_cast<uint8_t>((i + 29) % 30);
    add.b = static_cast<uint8_t>((i + 28) % 30);
    Instr store{Opcode::kVst};
    store.b = static_cast<uint8_t>(32 + (i + 29) % 30);
    store.imm = i % 100 * kVregBytes;
    block.Add({load, add, store});
  }
  Kernel kernel;
  kernel.scratch_bytes = 1 << 20;
  LayoutVmem(&kernel);
  kernel.step = {Loop{kNoReg, 4, 1, {std::move(block)}}};
  return kernel;
}

void BM_Time(benchmark::State& state) {
  const Kernel kernel = Streaming(state.range(0));
  const MachineModel m = Wide();
  for (auto _ : state) benchmark::DoNotOptimize(TimeKernel(kernel, m));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Time)->Arg(20000);

void BM_Verify(benchmark::State& state) {
  const Kernel kernel = Streaming(state.range(0));
  const MachineModel m = Wide();
  for (auto _ : state) CHECK(VerifyKernel(kernel, m).ok());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Verify)->Arg(20000);

void BM_PrintAndParse(benchmark::State& state) {
  const Kernel kernel = Streaming(state.range(0));
  for (auto _ : state) CHECK(ParseKernel(Print(kernel)).ok());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_PrintAndParse)->Arg(20000);

void BM_Execute(benchmark::State& state) {
  const Kernel kernel = Streaming(state.range(0));
  Core core(Wide());
  for (auto _ : state) CHECK(core.Run(kernel, {}).ok());
  state.SetItemsProcessed(core.bundles_executed());
}
BENCHMARK(BM_Execute)->Arg(20000);

// Matmuls of 16 bf16 rows on an array of the given size.
void BM_Matmul(benchmark::State& state) {
  MachineModel m = Wide();
  m.mxu_rows = m.mxu_cols = static_cast<int>(state.range(0));
  std::string pops;
  for (int i = 0; i < 2 * m.mxu_cols / kLanes; ++i) {
    pops += "{v3 = vpop.f32.mrf.mxu0}";
  }
  const std::string second =
      m.mxu_cols == kLanes ? "" : "{vmatprep.mubr.mxu0 v1}";
  const std::string weights =
      m.mxu_cols == kLanes
          ? "{vmatpush.bf16.mxu0 v1, block=1, row=0, msra}"
          : "{vmatprep.subr.mxu0 v1} {vmatpush.bf16.mxu0 v1, block=1, row=0, "
            "msra} {vmatprep.subr.mxu0 v1} {vmatpush.bf16.mxu0 v1, block=2, "
            "row=0, msra}";
  absl::StatusOr<Code> code = ParseCode(absl::StrCat(
      "block \"w\" {{v1 = vimm.u32 0x3f803f80} ", weights, "{nop 3}", second,
      "{vmatmul.bf16.mxu0 v1, latch=msra} {nop 9}", pops,
      "} loop - step 1 times 100 { block \"b\" {", second,
      "{vmatmul.bf16.mxu0 v1} {nop 9}", pops, "} }"));
  CHECK(code.ok()) << code.status();
  Kernel kernel;
  kernel.step = *code;
  Core core(m);
  for (auto _ : state) CHECK(core.Run(kernel, {}).ok());
  state.SetItemsProcessed(state.iterations() * 101);
}
BENCHMARK(BM_Matmul)->Arg(128)->Arg(256);

}  // namespace
}  // namespace ptxla::isa
