// Programs to damage, and what damages them; the same for a seed everywhere.
#ifndef PTXLA_TESTS_HLO_BACKEND_FUZZ_DAMAGE_H_
#define PTXLA_TESTS_HLO_BACKEND_FUZZ_DAMAGE_H_

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {

inline constexpr char kHlo[] =
    R"(HloModule jit_f, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, entry_computation_layout={(f32[4,8]{1,0:T(8,128)}, s32[2]{0})->f32[4,8]{1,0}}, num_partitions=2

FileNames
1 "a.py"

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(f32[] %a, f32[] %b)
}

%cond (t: (s32[], f32[4,8])) -> pred[] {
  %t = (s32[], f32[4,8]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %n = s32[] constant(3)
  ROOT %l = pred[] compare(%i, %n), direction=LT
}

%body (t.1: (s32[], f32[4,8])) -> (s32[], f32[4,8]) {
  %t.1 = (s32[], f32[4,8]{1,0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%t.1), index=0
  %x = f32[4,8]{1,0} get-tuple-element(%t.1), index=1
  %one = s32[] constant(1)
  %i.2 = s32[] add(%i.1, %one)
  ROOT %r = (s32[], f32[4,8]{1,0}) tuple(%i.2, %x)
}

ENTRY %main (p: f32[4,8], q: s32[2]) -> f32[4,8] {
  %p = f32[4,8]{1,0:T(8,128)} parameter(0), sharding={devices=[2,1]<=[2]}, metadata={op_name="x" source_line=3}
  %q = s32[2]{0} parameter(1)
  %z = f32[] constant(-inf)
  %k = f32[2,3]{1,0} constant({ { 1, 2.5e-3, nan }, { 4, 5, 6 } })
  %d = f32[4,4]{1,0} dot(%p, %p), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,default}
  %rd = f32[4]{0} reduce(%d, %z), dimensions={1}, to_apply=%sum
  %w = f32[4,8]{1,0} reduce-window(%p, %z), window={size=1x2 stride=1x1 pad=0_0x0_1}, to_apply=%sum
  %g = f32[2,8]{1,0} gather(%w, %q), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  %cv = f32[1,4,8,1]{3,2,1,0} reshape(%w)
  %kr = f32[1,1,1,1]{3,2,1,0} slice(%cv), slice={[0:1], [0:1], [0:1], [0:1]}
  %co = f32[1,4,8,1]{3,2,1,0} convolution(%cv, %kr), window={size=1x1}, dim_labels=b01f_01io->b01f
  %ar = f32[4,8]{1,0} all-reduce(%w), channel_id=1, replica_groups=[1,2]<=[2], use_global_device_ids=true, to_apply=%sum
  %cc = f32[4,8]{1,0} custom-call(%ar, %g, %rd, %co, %k), custom_call_target="f", backend_config={"a":[1,{"b":2}]}
  %i0 = s32[] constant(0)
  %tu = (s32[], f32[4,8]{1,0}) tuple(%i0, %cc)
  %wh = (s32[], f32[4,8]{1,0}) while(%tu), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"3"}}
  ROOT %out = f32[4,8]{1,0} get-tuple-element(%wh), index=1
}
)";

inline constexpr char kStableHlo[] = R"(#loc1 = loc("f.py":3:2)
module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<2x1xi32>) -> (tensor<4xf32> {jax.result_info = ""}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>
    %h = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>
    %0 = stablehlo.slice %arg0 [0:4, 0:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.compare  GT, %2, %2,  FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %4 = stablehlo.select %3, %2, %2 : tensor<4xi1>, tensor<4xf32>
    %5 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32>
    %6:2 = stablehlo.while(%iterArg = %cst, %iterArg_0 = %4) : tensor<f32>, tensor<4xf32>
    cond {
      %8 = stablehlo.compare  LT, %iterArg, %cst : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = stablehlo.add %iterArg_0, %2 : tensor<4xf32>
      stablehlo.return %iterArg, %8 : tensor<f32>, tensor<4xf32>
    }
    %7 = call @g(%6#1) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc1)
    return %7 : tensor<4xf32>
  }
  func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}", backend_config = ""} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
)";

// Cuts, doubles, swaps and flips pieces of the text, or takes words of it to
// other places.
inline std::string Damage(const std::string& text, std::mt19937* random) {
  std::string s = text;
  auto below = [random](size_t n) { return n == 0 ? 0 : (*random)() % n; };
  const int times = 1 + static_cast<int>(below(3));
  for (int t = 0; t < times && !s.empty(); ++t) {
    const size_t at = below(s.size()), other = below(s.size());
    const size_t length = std::min(1 + below(12), s.size() - at);
    switch (below(7)) {
      case 0:
        s.erase(at, length);
        break;
      case 1:
        s.insert(other, s.substr(at, length));
        break;
      case 2:
        s[at] = static_cast<char>(below(256));
        break;
      case 3:
        s[at] = "{}()[]<>,:=%@#\"-0129xfs"[below(23)];
        break;
      case 4:
        s.replace(other, std::min(length, s.size() - other),
                  s.substr(at, length));
        break;
      case 5:
        s.insert(at, absl::StrCat((*random)() % 2 ? "-" : "",
                                  uint64_t{(*random)()} << below(40)));
        break;
      case 6:
        s.resize(at);
        break;
    }
  }
  return s;
}

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_FUZZ_DAMAGE_H_
