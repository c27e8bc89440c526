// How fast the evaluator is: elements of elementwise chains and of reductions,
// multiply-adds of dots, and one training step of a small perceptron.
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "benchmark/benchmark.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"

namespace ptxla::hlo {
namespace {

void Run(benchmark::State& state, const std::string& text, int64_t items,
         bool tpu_mode = false) {
  auto module = ParseModule(text);
  CHECK(module.ok()) << module.status().ToString();
  EvaluatorOptions options;
  options.tpu_mode = tpu_mode;
  Evaluator evaluator(module->get(), options);
  const std::vector<Literal> arguments = RandomArguments(**module, 1);
  for (auto _ : state) {
    auto result = evaluator.Run(arguments);
    CHECK(result.ok()) << result.status().ToString();
    benchmark::DoNotOptimize(result);
  }
  state.SetItemsProcessed(state.iterations() * items);
}

// gelu in its tanh form: ten elementwise instructions.
void BM_Gelu(benchmark::State& state, const std::string& type, bool tpu_mode) {
  const int64_t n = 1 << 20;
  const std::string t = absl::StrCat(type, "[", n, "]");
  auto constant = [&](absl::string_view name, absl::string_view value) {
    return absl::StrCat("  ", name, ".s = ", type, "[] constant(", value,
                        ")\n  ", name, " = ", t, " broadcast(", name,
                        ".s), dimensions={}\n");
  };
  Run(state,
      absl::StrCat("HloModule m\nENTRY e {\n  x = ", t, " parameter(0)\n",
                   constant("c", "0.044715"), constant("k", "0.79788"),
                   constant("one", "1"), constant("half", "0.5"), "  x2 = ", t,
                   " multiply(x, x)\n  x3 = ", t, " multiply(x2, x)\n  a = ", t,
                   " multiply(x3, c)\n  b = ", t, " add(a, x)\n  d = ", t,
                   " multiply(b, k)\n  h = ", t, " tanh(d)\n  f = ", t,
                   " add(h, one)\n  g = ", t, " multiply(f, half)\n  ROOT r = ",
                   t, " multiply(g, x)\n}\n"),
      n * 9, tpu_mode);
}
BENCHMARK_CAPTURE(BM_Gelu, f32, "f32", false);
BENCHMARK_CAPTURE(BM_Gelu, f32_tpu, "f32", true);
BENCHMARK_CAPTURE(BM_Gelu, bf16, "bf16", false);

void BM_Unary(benchmark::State& state, const std::string& opcode) {
  const int64_t n = 1 << 20;
  Run(state,
      absl::StrCat("HloModule m\nENTRY e {\n  x = f32[", n,
                   "] parameter(0)\n  ROOT y = f32[", n, "] ", opcode,
                   "(x)\n}\n"),
      n);
}
BENCHMARK_CAPTURE(BM_Unary, negate, "negate");
BENCHMARK_CAPTURE(BM_Unary, exponential, "exponential");
BENCHMARK_CAPTURE(BM_Unary, tanh, "tanh");
BENCHMARK_CAPTURE(BM_Unary, erf, "erf");
BENCHMARK_CAPTURE(BM_Unary, sine, "sine");

// Items are multiply-adds.
void BM_Dot(benchmark::State& state, const std::string& type, bool tpu_mode) {
  const int64_t n = state.range(0);
  const std::string t = absl::StrCat(type, "[", n, ",", n, "]");
  Run(state,
      absl::StrCat("HloModule m\nENTRY e {\n  x = ", t,
                   " parameter(0)\n  y = ", t, " parameter(1)\n  ROOT d = ", t,
                   " dot(x, y), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}\n}\n"),
      n * n * n, tpu_mode);
}
BENCHMARK_CAPTURE(BM_Dot, f32, "f32", false)->Arg(128)->Arg(512);
BENCHMARK_CAPTURE(BM_Dot, f32_tpu, "f32", true)->Arg(512);
BENCHMARK_CAPTURE(BM_Dot, bf16, "bf16", false)->Arg(512);

// 3x3 on images of 28 x 28 with 128 features, as in ResNet-50; items are
// multiply-adds.
void BM_Convolution(benchmark::State& state, int groups) {
  const int64_t kernel_in = 128 / groups;
  Run(state,
      absl::StrCat("HloModule m\nENTRY e {\n  x = f32[4,28,28,128] "
                   "parameter(0)\n  k = f32[3,3,",
                   kernel_in,
                   ",128] parameter(1)\n  ROOT y = f32[4,28,28,128] "
                   "convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
                   "dim_labels=b01f_01io->b01f, feature_group_count=",
                   groups, "\n}\n"),
      int64_t{4} * 28 * 28 * 128 * 9 * kernel_in);
}
BENCHMARK_CAPTURE(BM_Convolution, dense, 1);
BENCHMARK_CAPTURE(BM_Convolution, depthwise, 128);

void BM_Sort(benchmark::State& state, const std::string& type) {
  const std::string t = absl::StrCat(type, "[64,4096]");
  Run(state,
      absl::StrCat("HloModule m\nlt {\n  a = ", type,
                   "[] parameter(0)\n  b = ", type,
                   "[] parameter(1)\n  ROOT c = pred[] compare(a, b), "
                   "direction=LT\n}\nENTRY e {\n  x = ",
                   t, " parameter(0)\n  ROOT y = ", t,
                   " sort(x), dimensions={1}, to_apply=lt\n}\n"),
      64 * 4096);
}
BENCHMARK_CAPTURE(BM_Sort, f32, "f32");
BENCHMARK_CAPTURE(BM_Sort, s32, "s32");

void BM_Reduce(benchmark::State& state, const std::string& dimension) {
  Run(state,
      absl::StrCat(
          "HloModule m\nf {\n  a = f32[] parameter(0)\n  b = f32[] "
          "parameter(1)\n  ROOT c = f32[] add(a, b)\n}\nENTRY e {\n  x = "
          "f32[1024,1024] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = "
          "f32[1024] reduce(x, z), dimensions={",
          dimension, "}, to_apply=f\n}\n"),
      1 << 20);
}
BENCHMARK_CAPTURE(BM_Reduce, rows, "1");
BENCHMARK_CAPTURE(BM_Reduce, columns, "0");

// A loop of scalar work: the cost of an instruction without its elements.
void BM_Loop(benchmark::State& state) {
  Run(state, R"(HloModule m
cond {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[] multiply(x, x)
  ROOT t = (s32[], f32[]) tuple(j, y)
}
ENTRY e {
  z = s32[] constant(0)
  x = f32[] parameter(0)
  t = (s32[], f32[]) tuple(z, x)
  ROOT w = (s32[], f32[]) while(t), condition=cond, body=body
})",
      1000 * 6);
}
BENCHMARK(BM_Loop);

}  // namespace
}  // namespace ptxla::hlo
