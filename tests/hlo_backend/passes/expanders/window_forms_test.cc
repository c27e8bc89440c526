// Do sliding windows mean the same in the forms that kernels have, whatever
// they begin with and whatever is beyond the array's borders?
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/all_passes.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Small whole numbers, exact in every type and sum; -inf in the first places.
Literal WholeNumbers(const Shape& shape, int infinities) {
  Literal literal(shape);
  uint64_t seed = 1;
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    literal.SetDouble(
        i, i < infinities ? -INFINITY : static_cast<double>(seed >> 61));
  }
  return literal;
}

void ExpectSameForms(const std::string& text, int infinities = 0) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text, "m"));
  std::vector<Literal> inputs;
  const Computation* entry = module->entry();
  inputs.reserve(entry->parameter_count());
  for (int p = 0; p < entry->parameter_count(); ++p) {
    inputs.push_back(
        WholeNumbers(entry->parameter(p)->shape(), p == 0 ? infinities : 0));
  }
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, inputs));
  ASSERT_OK_AND_ASSIGN(
      Pipeline p, Pipeline::FromNames("window-canonicalizer,window-expander"));
  PipelineOptions options;
  options.verify = true;
  ASSERT_OK(p.Run(module.get(), PassContext(), options).status());
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, inputs));
  ASSERT_EQ(expected.ElementCount(), actual.ElementCount());
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    ASSERT_EQ(expected.GetDouble(i), actual.GetDouble(i))
        << "element " << i << " of\n"
        << text << Print(*module);
  }
}

struct Case {
  const char *type, *op, *init, *x, *out, *window;
};

// Planes, a row of lanes, blocks side by side, all dimensions, many positions.
TEST(WindowFormsTest, BordersDoNotTakePart) {
  for (const Case& c : std::vector<Case>{
           {"f32", "add", "1", "9,4,5", "8,4,5", "size=4x1x1 pad=1_1x0_0x0_0"},
           {"bf16", "multiply", "2", "16,9", "16,10",
            "size=1x2 pad=0_0x1_1 rhs_dilate=1x1"},
           {"s32", "add", "3", "9,5", "17,5", "size=1x1 lhs_dilate=2x1"},
           {"s16", "add", "1", "4,20", "4,6",
            "size=1x5 stride=1x3 pad=0_0x4_0 rhs_dilate=1x2"},
           {"f32", "add", "1", "6,7", "3,8", "size=2x1 stride=2x1 pad=0_0x1_0"},
           {"f32", "add", "1", "4,7", "2,4", "size=4x2 stride=4x2 pad=1_3x1_0"},
           {"s32", "add", "1", "9,10", "11,11", "size=9x10 pad=5_5x5_5"},
           // Cumulative, in blocks and in blocks of blocks.
           {"s32", "add", "0", "3,300", "3,300", "size=1x300 pad=0_0x299_0"},
           {"s32", "add", "0", "3,300", "3,300", "size=1x300 pad=0_0x0_299"},
           {"f32", "add", "0", "200,5", "200,5", "size=200x1 pad=199_0x0_0"},
           {"s32", "maximum", "-2147483648", "2,200,130", "2,200,130",
            "size=1x200x1 pad=0_0x0_199x0_0"},
           {"s32", "add", "0", "16500", "16500", "size=16500 pad=16499_0"},
           {"s32", "add", "0", "16500", "16500", "size=16500 pad=0_16499"},
           {"s32", "maximum", "2", "9,5", "9,6", "size=3x2 pad=1_1x1_1"},
           {"s8", "and", "5", "9,5", "9,6", "size=3x2 pad=1_1x1_1"},
           {"s32", "minimum", "2", "9,5", "9,6", "size=3x2 pad=1_1x1_1"},
           // One dimension after the other.
           {"f32", "add", "1", "3,40,40", "3,40,20",
            "size=1x5x5 stride=1x1x2 pad=0_0x2_2x2_1"},
           {"bf16", "add", "0", "2,33,40", "2,33,36",
            "size=1x3x5 pad=0_0x1_1x0_0"},
           {"s32", "maximum", "2", "2,33,40", "2,27,44",
            "size=1x3x4 pad=0_0x0_0x3_4 rhs_dilate=1x3x1"},
           {"s32", "add", "0", "2,20,20", "2,39,39",
            "size=1x3x3 pad=0_0x1_1x1_1 lhs_dilate=1x2x2"},
           {"f32", "minimum", "5", "100,100", "41,41", "size=60x60"},
           {"u8", "minimum", "255", "2,90,90", "2,100,51",
            "size=1x40x40 pad=0_0x40_9x0_0"},
           {"f8e4m3fn", "maximum", "1", "2,90,90", "2,51,51", "size=1x40x40"},
           {"f32", "add", "0", "2,12,12,12", "2,12,12,12",
            "size=1x3x3x3 pad=0_0x1_1x1_1x1_1"}}) {
    ExpectSameForms(absl::Substitute(R"(HloModule m
g {
  a = $0[] parameter(0)
  b = $0[] parameter(1)
  ROOT r = $0[] $1(a, b)
}
ENTRY e {
  x = $0[$3] parameter(0)
  i = $0[] constant($2)
  ROOT r = $0[$4] reduce-window(x, i), window={$5}, to_apply=g
})",
                                     c.type, c.op, c.init, c.x, c.out,
                                     c.window));
  }
}

// The pad belongs to the array: its values take part.
TEST(WindowFormsTest, APadBeforeTheWindowTakesPart) {
  ExpectSameForms(R"(HloModule m
g {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[9,4,5] parameter(0)
  i = f32[] constant(1)
  p = f32[12,4,5] pad(x, i), padding=1_2x0_0x0_0
  ROOT r = f32[10,4,5] reduce-window(p, i), window={size=3x1x1}, to_apply=g
})");
}

// No operation's identity is known here.
TEST(WindowFormsTest, BordersOfAnyBodyDoNotTakePart) {
  ExpectSameForms(R"(HloModule m
g {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  h = f32[] multiply(a, two)
  ROOT r = f32[] add(h, b)
}
ENTRY e {
  x = f32[9,5] parameter(0)
  i = f32[] constant(1)
  ROOT r = f32[17,6] reduce-window(x, i), window={size=3x2 pad=1_1x1_1 lhs_dilate=2x1}, to_apply=g
})");
}

// Bodies that are no single operation: the last number that is not 0 (its order
// matters), and the greatest with where it is, as torch.cummax asks for it.
TEST(WindowFormsTest, AnyBodyAddsUpAlongADimension) {
  constexpr absl::string_view kLast = R"(HloModule m
last {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  none = s32[] constant(0)
  is = pred[] compare(b, none), direction=NE
  ROOT r = s32[] select(is, b, a)
}
ENTRY e {
  x = s32[$0] parameter(0)
  start = s32[] constant($2)
  ROOT r = s32[$0] reduce-window(x, start), window={$1}, to_apply=last
})";
  constexpr absl::string_view kGreatest = R"(HloModule m
greatest {
  a = f32[] parameter(0)
  ai = s32[] parameter(1)
  b = f32[] parameter(2)
  bi = s32[] parameter(3)
  first = pred[] compare(a, b), direction=GE
  v = f32[] select(first, a, b)
  i = s32[] select(first, ai, bi)
  ROOT r = (f32[], s32[]) tuple(v, i)
}
ENTRY e {
  x = f32[$0] parameter(0)
  places = s32[$0] iota(), iota_dimension=1
  least = f32[] constant(-inf)
  none = s32[] constant(-1)
  w = (f32[$0], s32[$0]) reduce-window(x, places, least, none), window={$1}, to_apply=greatest
  ROOT r = s32[$0] get-tuple-element(w), index=1
})";
  for (const auto& [dims, window] :
       std::vector<std::pair<std::string, std::string>>{
           {"3,100", "size=1x100 pad=0_0x99_0"},
           {"3,100", "size=1x100 pad=0_0x0_99"},
           {"65,3", "size=65x1 pad=64_0x0_0"},
           {"2,129,3", "size=1x129x1 pad=0_0x0_128x0_0"}}) {
    ExpectSameForms(absl::Substitute(kLast, dims, window, 0));
    ExpectSameForms(absl::Substitute(kLast, dims, window, 7));
    ExpectSameForms(absl::Substitute(kGreatest, dims, window), 5);
  }
}

TEST(WindowFormsTest, NoBorderIsSelected) {
  ExpectSameForms(R"(HloModule m
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}
g {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[8,8] parameter(0)
  s = f32[4,4] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[8,8] select-and-scatter(x, s, z), window={size=3x3 stride=2x2 pad=1_0x1_0}, select=ge, scatter=g
})",
                  33);
}

}  // namespace
}  // namespace ptxla::hlo
