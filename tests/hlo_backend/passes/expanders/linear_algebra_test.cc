// Loops over columns factorise as the evaluator does.
#include <algorithm>
#include <cmath>
#include <complex>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Diagonally dominant, symmetric (Hermitian): every factorisation of it exists.
Literal Matrices(const Shape& shape) {
  Literal a(shape);
  const int64_t n = shape.dim(shape.rank() - 1);
  for (int64_t k = 0; k < shape.ElementCount(); ++k) {
    const int64_t r = k / n % n, c = k % n;
    const double off = std::sin(static_cast<double>(r * c + r + c + k / n / n));
    const double value = r == c ? 4.0 + static_cast<double>(n) : off;
    const double turn = static_cast<double>(r - c);
    if (IsComplex(shape.type())) {
      a.SetComplex(k, {value, turn * off / static_cast<double>(n)});
    } else {
      a.SetDouble(k, value);
    }
  }
  return a;
}

Literal Expanded(Module* module, const std::vector<Literal>& arguments) {
  const auto pipeline = Pipeline::FromNames("linear-algebra-expander");
  EXPECT_OK(pipeline.status());
  auto p = *pipeline;
  EXPECT_OK(p.Run(module, {}).status());
  EXPECT_OK(VerifyModule(*module));
  auto result = Evaluate(*module, arguments);
  EXPECT_OK(result.status());
  return *std::move(result);
}

std::complex<double> At(const Literal& x, int64_t i) {
  return IsComplex(x.shape().type()) ? x.GetComplex(i) : x.GetDouble(i);
}

class LinearAlgebraTest : public ::testing::TestWithParam<const char*> {};

TEST_P(LinearAlgebraTest, LoopsGiveWhatTheEvaluatorGives) {
  for (const char* type : {"f32", "c64"}) {
    SCOPED_TRACE(type);
    ASSERT_OK_AND_ASSIGN(
        auto module,
        ParseModule(absl::StrReplaceAll(
            absl::Substitute("HloModule m\nENTRY e {\n a = @[2,5,5] "
                             "parameter(0)\n b = @[2,5,3] parameter(1)\n"
                             " c = @[2,3,5] parameter(2)\n ROOT r = $0\n}\n",
                             GetParam()),
            {{"@", type}})));
    std::vector<Literal> arguments;
    for (int k = 0; k < 3; ++k) {
      const Shape& shape = module->entry()->parameter(k)->shape();
      arguments.push_back(Matrices(shape));
    }
    ASSERT_OK_AND_ASSIGN(Literal expected, Evaluate(*module, arguments));
    const Literal actual = Expanded(module.get(), arguments);
    EXPECT_NE(module->entry()->root()->opcode(), Opcode::kCholesky);
    EXPECT_NE(module->entry()->root()->opcode(), Opcode::kTriangularSolve);
    // The other triangle of a Cholesky factor is nobody's.
    for (int64_t i = 0; i < expected.shape().ElementCount(); ++i) {
      const std::complex<double> a = At(actual, i);
      if (a == 0.0) continue;
      EXPECT_LE(std::abs(a - At(expected, i)), 1e-5) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, LinearAlgebraTest,
    ::testing::Values(
        "@[2,5,5] cholesky(a), lower=true", "@[2,5,5] cholesky(a), lower=false",
        "@[2,5,3] triangular-solve(a, b), left_side=true, lower=true, "
        "unit_diagonal=false, transpose_a=NO_TRANSPOSE",
        "@[2,5,3] triangular-solve(a, b), left_side=true, lower=false, "
        "unit_diagonal=true, transpose_a=NO_TRANSPOSE",
        "@[2,5,3] triangular-solve(a, b), left_side=true, lower=true, "
        "unit_diagonal=false, transpose_a=TRANSPOSE",
        "@[2,3,5] triangular-solve(a, c), left_side=false, lower=true, "
        "unit_diagonal=false, transpose_a=NO_TRANSPOSE",
        "@[2,3,5] triangular-solve(a, c), left_side=false, lower=false, "
        "unit_diagonal=false, transpose_a=ADJOINT",
        "@[2,5,3] triangular-solve(a, b), left_side=true, lower=false, "
        "unit_diagonal=false, transpose_a=ADJOINT"));

// A V = V diag(w), and V is orthogonal.
TEST(EighTest, RotationsGiveEigenvectors) {
  for (const int n : {1, 2, 5, 8, 17}) {
    ASSERT_OK_AND_ASSIGN(
        auto module,
        ParseModule(absl::Substitute(
            "HloModule m\nENTRY e {\n a = f32[2,$0,$0] parameter(0)\n ROOT r "
            "= (f32[2,$0,$0], f32[2,$0]) custom-call(a), "
            "custom_call_target=\"Eigh\", "
            "backend_config=\"1,1,15,0.00001\"\n}\n",
            n)));
    const Literal a = Matrices(module->entry()->parameter(0)->shape());
    const Literal pairs = Expanded(module.get(), {a});
    const Literal v = pairs.At({0}), w = pairs.At({1});
    // Row r, column c of matrix k, the lower triangle mirrored.
    const auto at = [&](const Literal& x, int k, int r, int c) {
      return x.GetDouble((k * n + r) * n + c);
    };
    const double scale = 4.0 + 2 * n;
    for (int k = 0; k < 2; ++k) {
      for (int c = 0; c < n; ++c) {
        const double value = w.GetDouble(k * n + c);
        if (c > 0) {
          EXPECT_LE(w.GetDouble(k * n + c - 1), value);
        }
        for (int r = 0; r < n; ++r) {
          double product = 0, turned = 0;
          for (int j = 0; j < n; ++j) {
            product +=
                at(a, k, std::max(r, j), std::min(r, j)) * at(v, k, j, c);
            turned += at(v, k, j, r) * at(v, k, j, c);
          }
          EXPECT_NEAR(product, value * at(v, k, r, c), 3e-6 * scale) << n;
          EXPECT_NEAR(turned, r == c ? 1 : 0, 3e-6) << n;
        }
      }
    }
  }
}

TEST(LuTest, RowsInOrderAreLowerTimesUpper) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  a = f32[4,4] parameter(0)
  ROOT r = (f32[4,4], s32[4], s32[4]) custom-call(a), custom_call_target="LuDecomposition"
})"));
  const double rows[16] = {0, 2, 1, -1, 3, 1, 0, 2, -4, 1, 2, 0, 1, 1, 5, 3};
  Literal a(module->entry()->parameter(0)->shape());
  for (int k = 0; k < 16; ++k) a.SetDouble(k, rows[k]);
  const Literal all = Expanded(module.get(), {a});
  const Literal& lu = all.elements()[0];
  for (int r = 0; r < 4; ++r) {
    const int64_t from = all.elements()[2].GetInt(r);
    EXPECT_GE(all.elements()[1].GetInt(r), r);  // a pivot is below
    for (int c = 0; c < 4; ++c) {
      double sum = 0;
      for (int k = 0; k <= std::min(r, c); ++k) {
        sum += (k == r ? 1 : lu.GetDouble(r * 4 + k)) * lu.GetDouble(k * 4 + c);
      }
      EXPECT_NEAR(sum, rows[from * 4 + c], 1e-5) << r << c;
    }
  }
}

TEST(QrTest, ReflectionsGiveAnOrthogonalMatrixTimesATriangle) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  a = f32[5,3] parameter(0)
  r = (f32[5,3], f32[3]) custom-call(a), custom_call_target="Qr"
  v = f32[5,3] get-tuple-element(r), index=0
  t = f32[3] get-tuple-element(r), index=1
  q = f32[5,3] custom-call(v, t), custom_call_target="ProductOfElementaryHouseholderReflectors"
  ROOT both = (f32[5,3], f32[5,3]) tuple(v, q)
})"));
  Literal a(module->entry()->parameter(0)->shape());
  for (int k = 0; k < 15; ++k) a.SetDouble(k, std::sin(k * k + 1.0) * 3);
  const Literal all = Expanded(module.get(), {a});
  const Literal &r = all.elements()[0], &q = all.elements()[1];
  for (int i = 0; i < 5; ++i) {
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (int k = 0; k <= c; ++k) {
        sum += q.GetDouble(i * 3 + k) * r.GetDouble(k * 3 + c);
      }
      EXPECT_NEAR(sum, a.GetDouble(i * 3 + c), 1e-5) << i << c;
    }
  }
  for (int c = 0; c < 3; ++c) {
    for (int d = 0; d < 3; ++d) {
      double sum = 0;
      for (int i = 0; i < 5; ++i) {
        sum += q.GetDouble(i * 3 + c) * q.GetDouble(i * 3 + d);
      }
      EXPECT_NEAR(sum, c == d ? 1 : 0, 1e-5) << c << d;
    }
  }
}

}  // namespace
}  // namespace ptxla::hlo
