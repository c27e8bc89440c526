// Complex arithmetic on real and imaginary parts gives the same numbers.
#include <cmath>
#include <complex>
#include <random>

#include "absl/strings/str_cat.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using Number = std::complex<double>;

// Small numbers, and those at which formulas turn: zeros, the axes, far out.
Literal Numbers(const Shape& shape, uint32_t seed) {
  static const Number kTurns[] = {{0, 0},  {1, 0},     {-1, 0},     {0, 1},
                                  {0, -2}, {1e20, 1},  {3, -1e-20}, {-4, 1e-3},
                                  {30, 2}, {-30, 0.5}, {0.1, 9}};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-3, 3);
  Literal x(shape);
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    const double re = part(random), im = part(random);
    const size_t turn = static_cast<size_t>(i + seed);
    x.SetComplex(i, i < 11 ? kTurns[turn % 11] : Number(re, im));
  }
  return x;
}

Number At(const Literal& x, int64_t i) {
  if (IsComplex(x.shape().type())) return x.GetComplex(i);
  return IsFloat(x.shape().type()) ? x.GetDouble(i)
                                   : static_cast<double>(x.GetInt(i));
}

bool IsFinite(Number x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

class X64ComplexTest : public ::testing::TestWithParam<std::string> {};

TEST_P(X64ComplexTest, PartsComputeTheSame) {
  const std::string text = absl::StrCat(R"(
HloModule m
add { p = c64[] parameter(0)
 q = c64[] parameter(1)
 ROOT s = c64[] add(p, q) }
mul { p = c64[] parameter(0)
 q = c64[] parameter(1)
 ROOT s = c64[] multiply(p, q) }
put { p = c64[] parameter(0)
 ROOT q = c64[] parameter(1) }
ENTRY e {
 x = c64[5,7] parameter(0)
 y = c64[5,7] parameter(1)
 )",
                                        GetParam(), "\n}\n");
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const Shape shape = module->entry()->parameter(0)->shape();
  const Literal x = Numbers(shape, 1), y = Numbers(shape, 5);
  ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, {x, y}));
  ASSERT_OK_AND_ASSIGN(Pipeline p, Pipeline::FromNames("x64-elimination"));
  ASSERT_OK(p.Run(module.get(), {}).status());
  ASSERT_OK(VerifyModule(*module));
  for (const Instruction* i : module->entry()->instructions()) {
    if (i->opcode() == Opcode::kParameter ||
        i->opcode() == Opcode::kCustomCall) {
      continue;
    }
    ASSERT_LE(BitWidth(i->shape().type()), 32) << i->ToString();
  }
  ASSERT_OK_AND_ASSIGN(Literal actual, Evaluate(*module, {x, y}));
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const Number e = At(expected, i), a = At(actual, i);
    if (!IsFinite(e)) {
      EXPECT_FALSE(IsFinite(a)) << i << ": " << e << ", got " << a;
    } else {
      EXPECT_LE(std::abs(e - a), 1e-5 * std::abs(e) + 1e-6)
          << i << " of " << x.GetComplex(i % 35) << ": " << e << ", got " << a;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, X64ComplexTest,
    ::testing::Values("ROOT r = c64[5,7] add(x, y)",
                      "ROOT r = c64[5,7] subtract(x, y)",
                      "ROOT r = c64[5,7] negate(x)",
                      "ROOT r = c64[5,7] sign(x)", "ROOT r = f32[5,7] abs(x)",
                      "ROOT r = f32[5,7] real(x)", "ROOT r = f32[5,7] imag(x)",
                      "ROOT r = pred[5,7] compare(x, y), direction=EQ",
                      "ROOT r = pred[5,7] compare(x, x), direction=NE",
                      "ROOT r = c64[5,7] sqrt(x)", "ROOT r = c64[5,7] rsqrt(x)",
                      "ROOT r = c64[5,7] log(x)", "ROOT r = c64[5,7] tanh(x)",
                      "ROOT r = c64[7,5] transpose(x), dimensions={1,0}",
                      "ROOT r = c64[2,3] slice(x), slice={[1:5:2], [0:3]}",
                      "z = c64[] constant((2, -1))\n"
                      "ROOT r = c64[6,9] pad(x, z), padding=0_1x1_1",
                      "i = s32[5,7] iota(), iota_dimension=1\n"
                      "ROOT r = c64[5,7] convert(i)",
                      "ROOT r = c64[5,7] iota(), iota_dimension=0",
                      "i = s64[5,7] iota(), iota_dimension=1\n"
                      "ROOT r = c64[5,7] convert(i)",
                      "p = pred[5,7] compare(x, y), direction=EQ\n"
                      "ROOT r = c64[5,7] select(p, x, y)"));

// u and v are of a size below one: products and powers of the far numbers leave
// f32.
std::string Near(const std::string& rest) {
  return absl::StrCat(
      "ax = f32[5,7] abs(x)\nay = f32[5,7] abs(y)\n"
      "one = f32[] constant(1)\n"
      "ones = f32[5,7] broadcast(one), dimensions={}\n"
      "zeros = f32[5,7] subtract(ones, ones)\n"
      "bx = f32[5,7] add(ax, ones)\nby = f32[5,7] add(ay, ones)\n"
      "cx = c64[5,7] complex(bx, zeros)\ncy = c64[5,7] complex(by, zeros)\n"
      "u = c64[5,7] divide(x, cx)\nv = c64[5,7] divide(y, cy)\n",
      rest);
}

INSTANTIATE_TEST_SUITE_P(
    NearZero, X64ComplexTest,
    ::testing::Values(
        Near("ROOT r = c64[5,7] multiply(u, v)"),
        Near("w = c64[5,7] add(v, cx)\nROOT r = c64[5,7] divide(u, w)"),
        Near("w = c64[5,7] add(u, cx)\nROOT r = c64[5,7] power(w, v)"),
        Near("ROOT r = c64[5,7] exponential(u)"),
        Near("ROOT r = c64[5,7] exponential-minus-one(u)"),
        Near("ROOT r = c64[5,7] log-plus-one(u)"),
        Near("ROOT r = c64[5,7] logistic(u)"),
        Near("ROOT r = c64[5,7] sine(u)"), Near("ROOT r = c64[5,7] cosine(u)"),
        Near("ROOT r = c64[5,7] tan(u)"),
        Near("z = c64[] constant((0, 0))\n"
             "ROOT r = c64[5] reduce(u, z), dimensions={1}, to_apply=add"),
        Near("z = c64[] constant((1, 0))\n"
             "ROOT r = c64[7] reduce(u, z), dimensions={0}, to_apply=mul"),
        Near("z = c64[] constant((0, 0))\n"
             "ROOT r = c64[5,7] reduce-window(u, z), window={size=1x3 "
             "pad=0_0x1_1}, to_apply=add"),
        Near("i = s32[3,1] constant({{2}, {0}, {2}})\n"
             "s = c64[3,7] slice(v), slice={[0:3], [0:7]}\n"
             "ROOT r = c64[5,7] scatter(u, i, s), update_window_dims={1}, "
             "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, to_apply=add"),
        Near("ROOT r = c64[5,5] dot(u, v), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}"),
        Near("ROOT r = c64[5,5] dot(u, cx), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={1}"),
        Near("s = c64[5,7,1] reshape(u)\nk = c64[3,1,1] constant({{{(1, 2)}}, "
             "{{(0, -1)}}, {{(0.5, 0.25)}}})\nROOT r = c64[5,5,1] "
             "convolution(s, k), window={size=3}, dim_labels=b0f_0io->b0f")));

// Three real products of a complex one, two where a factor is real.
TEST(X64ComplexProductTest, ARealFactorSavesAProduct) {
  const auto products = [](const char* x) {
    auto module = ParseModule(absl::StrCat(
        "HloModule m\nENTRY e {\n a = f32[8,4] parameter(0)\n"
        " x = c64[8,4] parameter(1)\n y = c64[4,6] parameter(2)\n",
        " r = c64[8,4] convert(a)\n ROOT d = c64[8,6] dot(", x,
        ", y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n"));
    EXPECT_OK(module.status());
    EXPECT_OK(Pipeline::FromNames("x64-elimination")
                  ->Run(module->get(), {})
                  .status());
    int dots = 0;
    for (const Instruction* i : (*module)->entry()->instructions()) {
      dots += i->opcode() == Opcode::kDot ? 1 : 0;
    }
    return dots;
  };
  EXPECT_EQ(products("x"), 3);
  EXPECT_EQ(products("r"), 2);
}

}  // namespace
}  // namespace ptxla::hlo
