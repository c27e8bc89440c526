// Gathers, scatters, windows and movements of any form mean the same in the
// form that kernels have.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(GeneralFormsTest, GathersOfAnyDimensionNumbers) {
  struct Case {
    const char *type, *x, *index_type, *indices, *out, *numbers;
  };
  for (const Case& c : std::vector<Case>{
           {"f32", "7,9,5", "s32", "4,2", "4,5",
            "offset_dims={1}, collapsed_slice_dims={0,1}, "
            "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,5}"},
           {"bf16", "7,9,5", "u32", "3,4,2", "3,5,4",
            "offset_dims={1}, collapsed_slice_dims={0,1}, "
            "start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,1,5}"},
           {"s32", "7,9,5", "s32", "3,6", "6,4,2,5",
            "offset_dims={1,2,3}, collapsed_slice_dims={}, "
            "start_index_map={2,0,1}, index_vector_dim=0, "
            "slice_sizes={4,2,5}"},
           {"f32", "6,9", "s32", "5", "9,5",
            "offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,9}"},
           {"u8", "6,9", "s32", "5", "6,5",
            "offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, "
            "index_vector_dim=1, slice_sizes={6,1}"},
           {"f32", "6,9", "s32", "5", "5,2,3",
            "offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1}, "
            "index_vector_dim=1, slice_sizes={2,3}"},
           {"f32", "4,9,3", "s32", "4,6,1", "4,6,3",
            "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
            "operand_batching_dims={0}, start_indices_batching_dims={0}, "
            "index_vector_dim=2, slice_sizes={1,1,3}"},
           {"f32", "4,9,3", "s32", "6,4,1", "6,4,3",
            "offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, "
            "operand_batching_dims={0}, start_indices_batching_dims={1}, "
            "index_vector_dim=2, slice_sizes={1,1,3}"},
           {"f32", "4,9,3", "u32", "6,4,1", "6,4,2,3",
            "offset_dims={2,3}, collapsed_slice_dims={}, start_index_map={1}, "
            "operand_batching_dims={0}, start_indices_batching_dims={1}, "
            "index_vector_dim=2, slice_sizes={1,2,3}"},
           {"bf16", "4,9", "s8", "4", "4,3",
            "offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, "
            "operand_batching_dims={0}, start_indices_batching_dims={0}, "
            "index_vector_dim=1, slice_sizes={1,3}"},
           {"f32", "7,9,5", "s32", "3", "3,2,5",
            "offset_dims={0,1,2}, collapsed_slice_dims={}, "
            "start_index_map={0,1,2}, index_vector_dim=0, "
            "slice_sizes={3,2,5}"},
           {"f32", "1,9", "s32", "5,1", "5,9",
            "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
            "index_vector_dim=1, slice_sizes={1,9}"}}) {
    for (const char* pass : {"gather-canonicalizer", "window-loops"}) {
      EXPECT_OK(SameAfterPass(
          absl::Substitute("HloModule m\nENTRY e {\n  x = $0[$1] parameter(0)\n"
                           "  i = $2[$3] parameter(1)\n"
                           "  ROOT g = $0[$4] gather(x, i), $5\n}\n",
                           c.type, c.x, c.index_type, c.indices, c.out,
                           c.numbers),
          pass, Passed::kMayStay));
    }
  }
}

TEST(GeneralFormsTest, ScattersOfAnyDimensionNumbers) {
  struct Case {
    const char *type, *x, *index_type, *indices, *updates, *op, *numbers;
  };
  for (const Case& c : std::vector<Case>{
           {"f32", "7,9,5", "s32", "4,2", "4,5", "add",
            "update_window_dims={1}, inserted_window_dims={0,1}, "
            "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
           {"bf16", "7,9,5", "u32", "3,4,2", "3,5,4", "maximum",
            "update_window_dims={1}, inserted_window_dims={0,1}, "
            "scatter_dims_to_operand_dims={1,0}, index_vector_dim=2"},
           {"s32", "7,9,5", "s32", "3,6", "6,4,2,5", "add",
            "update_window_dims={1,2,3}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={2,0,1}, index_vector_dim=0"},
           {"f32", "6,9", "s32", "5", "9,5", "minimum",
            "update_window_dims={0}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1"},
           {"u8", "6,9", "s32", "5", "6,5", "add",
            "update_window_dims={0}, inserted_window_dims={1}, "
            "scatter_dims_to_operand_dims={1}, index_vector_dim=1"},
           {"f32", "6,9", "s32", "5", "5,2,3", "add",
            "update_window_dims={1,2}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={1}, index_vector_dim=1"},
           {"f32", "4,9,3", "s32", "4,6,1", "4,6,3", "add",
            "update_window_dims={2}, inserted_window_dims={1}, "
            "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
            "scatter_indices_batching_dims={0}, index_vector_dim=2"},
           {"f32", "7,9,5", "s32", "3", "3,2,5", "second",
            "update_window_dims={0,1,2}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={0,1,2}, index_vector_dim=0"},
           // Planes that are replaced, and ones that lie turned.
           {"bf16", "5,3,8,128", "s32", "6,2", "6,8,128", "second",
            "update_window_dims={1,2}, inserted_window_dims={0,1}, "
            "scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"},
           {"f32", "7,128,8", "s32", "6,1", "6,128,8", "second",
            "update_window_dims={1,2}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1"},
           // vmap of dynamic-update-slice, places by two dimensions.
           {"bf16", "4,9,3", "u32", "6,4,1", "6,4,2,3", "second",
            "update_window_dims={2,3}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
            "scatter_indices_batching_dims={1}, index_vector_dim=2"},
           {"s32", "4,9,3", "s8", "4,1", "4,1,3", "add",
            "update_window_dims={1,2}, inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
            "scatter_indices_batching_dims={0}, index_vector_dim=1"},
           {"s32", "40", "s32", "1,1", "1", "second",
            "update_window_dims={}, inserted_window_dims={0}, "
            "scatter_dims_to_operand_dims={0}, index_vector_dim=1"}}) {
    const std::string op = c.op;
    const std::string root =
        op == "second"
            ? absl::Substitute("  ROOT b = $0[] parameter(1)\n", c.type)
            : absl::Substitute(
                  "  b = $0[] parameter(1)\n"
                  "  ROOT c = $0[] $1(a, b)\n",
                  c.type, op);
    for (const char* pass : {"gather-canonicalizer", "window-loops"}) {
      EXPECT_OK(SameAfterPass(
          absl::Substitute("HloModule m\nf {\n  a = $0[] parameter(0)\n$7}\n"
                           "ENTRY e {\n  x = $0[$1] parameter(0)\n"
                           "  i = $2[$3] parameter(1)\n"
                           "  u = $0[$4] parameter(2)\n"
                           "  ROOT s = $0[$1] scatter(x, i, u), $5, "
                           "to_apply=f\n}\n",
                           c.type, c.x, c.index_type, c.indices, c.updates,
                           c.numbers, 0, root),
          pass, Passed::kMayStay));
    }
  }
}

TEST(GeneralFormsTest, ScattersWhoseBodyIsMoreThanOneOperation) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  e = f32[] add(a, c)
  g = f32[] maximum(e, d)
  h = f32[] multiply(b, c)
  ROOT t = (f32[], f32[]) tuple(g, h)
}
ENTRY e {
  x = f32[7,9] parameter(0)
  y = f32[7,9] parameter(1)
  i = s32[5,2] parameter(2)
  u = f32[5] parameter(3)
  v = f32[5] parameter(4)
  s = (f32[7,9], f32[7,9]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=f
  p = f32[7,9] get-tuple-element(s), index=0
  q = f32[7,9] get-tuple-element(s), index=1
  ROOT r = f32[7,9] subtract(p, q)
}
)",
                          "window-loops,tuple-simplifier"));
}

TEST(GeneralFormsTest, AScatterOfTwoArraysIsTwo) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(c, a)
  ROOT t = (f32[], s32[]) tuple(e, d)
}
ENTRY e {
  x = f32[7,9] parameter(0)
  y = s32[7,9] parameter(1)
  i = s32[1,1] parameter(2)
  u = f32[1,9] parameter(3)
  v = s32[1,9] parameter(4)
  s = (f32[7,9], s32[7,9]) scatter(x, y, i, u, v), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f
  p = f32[7,9] get-tuple-element(s), index=0
  q = s32[7,9] get-tuple-element(s), index=1
  c = f32[7,9] convert(q)
  ROOT r = f32[7,9] subtract(p, c)
}
)",
                          "gather-canonicalizer,tuple-simplifier"));
}

TEST(GeneralFormsTest, SlidingWindowsOfAnyArrays) {
  struct Case {
    const char *type, *x, *init, *out, *window, *op;
  };
  for (const Case& c : std::vector<Case>{
           // Side by side, with what is left over and with padding.
           {"f32", "64,10", "0", "2,1", "size=32x10 stride=32x10", "add"},
           {"s32", "67,9", "1", "4,9", "size=16x1 stride=16x1", "add"},
           {"f32", "11", "2", "3", "size=5 stride=5 pad=3_4", "maximum"},
           // Many positions, few places; gaps in the window and in the array.
           {"s32", "200", "0", "67", "size=71 stride=2 pad=3_0", "add"},
           {"s32", "300", "1", "3", "size=100 rhs_dilate=3", "add"},
           {"s32", "40,30", "-9", "21,5", "size=20x11 stride=1x4", "maximum"},
           {"s32", "9", "0", "11", "size=3 lhs_dilate=2 pad=-1_-3", "add"},
           {"s32", "50", "3", "100", "size=70 pad=69_50", "minimum"},
           // All earlier elements, of another type than kernels take.
           {"s8", "17", "0", "17", "size=17 pad=16_0", "add"},
           {"s8", "17", "1", "15", "size=3", "add"}}) {
    EXPECT_OK(SameAfterPass(
        absl::Substitute(
            "HloModule m\nf {\n  a = $0[] parameter(0)\n  b = $0[] "
            "parameter(1)\n  ROOT c = $0[] $5(a, b)\n}\nENTRY e {\n"
            "  x = $0[$1] parameter(0)\n  i = $0[] constant($2)\n"
            "  ROOT r = $0[$3] reduce-window(x, i), window={$4}, "
            "to_apply=f\n}\n",
            c.type, c.x, c.init, c.out, c.window, c.op),
        "window-canonicalizer,window-expander"));
  }
}

TEST(GeneralFormsTest, AWindowOverTwoArraysWithABodyOfItsOwn) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
f {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(a, c)
  g = s32[] add(b, d)
  ROOT t = (f32[], s32[]) tuple(e, g)
}
ENTRY e {
  x = f32[7,9] parameter(0)
  y = s32[7,9] parameter(1)
  i = f32[] constant(1)
  j = s32[] constant(2)
  w = (f32[6,3], s32[6,3]) reduce-window(x, y, i, j), window={size=2x3 stride=1x3}, to_apply=f
  p = f32[6,3] get-tuple-element(w), index=0
  q = s32[6,3] get-tuple-element(w), index=1
  c = f32[6,3] convert(q)
  h = f32[] constant(100)
  k = f32[6,3] broadcast(h), dimensions={}
  m = f32[6,3] multiply(c, k)
  ROOT r = f32[6,3] subtract(p, m)
}
)",
                          "window-expander,tuple-simplifier"));
}

TEST(GeneralFormsTest, MovementsOfLargeArrays) {
  for (const char* body :
       {"x = u8[30,40,50] parameter(0)\n"
        "  ROOT r = u8[50,30,40] transpose(x), dimensions={2,0,1}",
        "x = s32[7,30] parameter(0)\n  ROOT r = s32[7,30,1] reshape(x)",
        "x = f32[200,400] parameter(0)\n"
        "  ROOT r = f32[200,400] reverse(x), dimensions={1,0}",
        "x = bf16[3,300,400] parameter(0)\n"
        "  ROOT r = bf16[3,300,400] reverse(x), dimensions={0,1}",
        "x = f32[400,500] parameter(0)\n  ROOT r = f32[199,249] "
        "slice(x), slice={[1:398:2], [3:500:2]}"}) {
    EXPECT_OK(
        SameAfterPass(absl::StrCat("HloModule m\nENTRY e {\n  ", body, "\n}\n"),
                      "movement-shaper"));
  }
}

TEST(GeneralFormsTest, ARaggedExchangeOfOneDevice) {
  for (const char* index : {"s32", "s64"}) {
    EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[7,3] parameter(0)
  out = f32[9,3] parameter(1)
  from = $0[4] parameter(2)
  sizes = $0[4] parameter(3)
  to = $0[4] parameter(4)
  ROOT r = f32[9,3] ragged-all-to-all(x, out, from, sizes, to, sizes), replica_groups={{0}}
})",
                                             index),
                            "trivial-collectives"));
  }
}

TEST(GeneralFormsTest, SortsAlongAnyDimension) {
  for (const char* dims : {"3,1", "1,3", "7,5", "300,2", "1,5,1", "2,5,3",
                           "5,1,1", "3,70,2", "2,3,5,2"}) {
    const auto rank = std::count(dims, dims + std::strlen(dims), ',') + 1;
    for (int64_t d = 0; d < rank; ++d) {
      EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[$0] parameter(0)
  y = s32[$0] parameter(1)
  s = (f32[$0], s32[$0]) sort(x, y), dimensions={$1}, is_stable=true, to_apply=less
  ROOT r = s32[$0] get-tuple-element(s), index=1
})",
                                               dims, d),
                              "sort-expander", Passed::kMayStay));
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
