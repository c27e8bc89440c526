// Calls of other compilers are the functions that PyTorch has by their names.
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

constexpr int kRows = 3, kColumns = 5;

double X(int row, int column) { return std::sin(row * 7 + column * 3) * 2; }

// The value of `root`, in which x is f32[3,5] of X and `labels` s32[3].
Literal Value(const std::string& root) {
  auto module = ParseModule(
      absl::StrCat("HloModule m\nENTRY e {\n x = f32[3,5] parameter(0)\n"
                   " w = f32[5] constant({1, 2, 3, 4, 5})\n"
                   " b = f32[5] constant({0, 1, 0, -1, 0})\n"
                   " eps = f32[] constant(0.5)\n"
                   " labels = s32[3] constant({2, -1, 4})\n ROOT r = ",
                   root, "\n}\n"));
  EXPECT_OK(module.status()) << root;
  Literal x((*module)->entry()->parameter(0)->shape());
  for (int i = 0; i < kRows * kColumns; ++i) {
    x.SetDouble(i, X(i / kColumns, i % kColumns));
  }
  EXPECT_OK(
      Pipeline::FromNames("rare-op-expander")->Run(module->get(), {}).status());
  EXPECT_OK(VerifyModule(**module));
  auto value = Evaluate(**module, {x});
  EXPECT_OK(value.status()) << root;
  return *std::move(value);
}

void ExpectEach(const Literal& value,
                const std::function<double(int row, int column)>& expected) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    EXPECT_NEAR(value.GetDouble(i), expected(i / kColumns, i % kColumns), 2e-6)
        << i;
  }
}

double Gelu(double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2))); }
double TanhGelu(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(FrameworkCallsTest, Gelus) {
  const auto value = [](const std::string& target, const std::string& more) {
    return Value(absl::StrCat("f32[3,5] custom-call(x), custom_call_target=\"",
                              target, "\"", more));
  };
  const auto gelu = [](int r, int c) { return Gelu(X(r, c)); };
  const auto tanh_gelu = [](int r, int c) { return TanhGelu(X(r, c)); };
  ExpectEach(value("AwsNeuronGelu", ""), gelu);
  ExpectEach(value("AwsNeuronGeluApprxTanh", ""), tanh_gelu);
  ExpectEach(
      value("byteir.gelu", ", frontend_attributes={approximate=\"erf\"}"),
      gelu);
  ExpectEach(
      value("byteir.gelu", ", frontend_attributes={approximate=\"tanh\"}"),
      tanh_gelu);
  ExpectEach(value("AwsNeuronGeluBackward", ""), [](int r, int c) {
    return (Gelu(X(r, c) + 1e-5) - Gelu(X(r, c) - 1e-5)) / 2e-5;
  });
}

TEST(FrameworkCallsTest, Softmaxes) {
  const auto sum = [](int r) {
    double s = 0;
    for (int c = 0; c < kColumns; ++c) s += std::exp(X(r, c));
    return s;
  };
  ExpectEach(Value("f32[3,5] custom-call(x), custom_call_target="
                   "\"byteir.softmax\", frontend_attributes={axis=\"1\"}"),
             [&](int r, int c) { return std::exp(X(r, c)) / sum(r); });
  ExpectEach(
      Value("f32[3,5] custom-call(x), custom_call_target="
            "\"byteir.log_softmax\", frontend_attributes={axis=\"-1 : i64\"}"),
      [&](int r, int c) { return X(r, c) - std::log(sum(r)); });
}

TEST(FrameworkCallsTest, Norms) {
  const auto mean = [](int r, double power) {
    double s = 0;
    for (int c = 0; c < kColumns; ++c) s += std::pow(X(r, c), power);
    return s / kColumns;
  };
  ExpectEach(Value("f32[3,5] custom-call(x, w, eps), custom_call_target="
                   "\"AwsNeuronRmsNorm\", backend_config=\"1\""),
             [&](int r, int c) {
               return X(r, c) / std::sqrt(mean(r, 2) + 0.5) * (c + 1);
             });
  const Literal y = Value(
      "(f32[3,5], f32[3,1], f32[3,1]) custom-call(x, w, b), "
      "custom_call_target=\"byteir.layer_norm\", "
      "frontend_attributes={axis=\"[1]\",epsilon=\"1e-02 : f64\"}");
  const auto inverse = [&](int r) {
    return 1 / std::sqrt(mean(r, 2) - mean(r, 1) * mean(r, 1) + 0.01);
  };
  const double bias[] = {0, 1, 0, -1, 0};
  ExpectEach(y.At({0}), [&](int r, int c) {
    return (X(r, c) - mean(r, 1)) * inverse(r) * (c + 1) + bias[c];
  });
  for (int r = 0; r < kRows; ++r) {
    EXPECT_NEAR(y.At({1}).GetDouble(r), mean(r, 1), 1e-6);
    EXPECT_NEAR(y.At({2}).GetDouble(r), inverse(r), 1e-6);
  }
}

// The second label is ignored.
TEST(FrameworkCallsTest, NegativeLogLikelihood) {
  for (const bool is_mean : {true, false}) {
    const Literal loss = Value(absl::StrCat(
        "(f32[], f32[]) custom-call(x, labels), "
        "custom_call_target=\"byteir.nll_loss_forward\", "
        "frontend_attributes={ignore_index=\"-1 : i64\",reduction=\"",
        is_mean ? 1 : 2, " : i64\"}"));
    EXPECT_NEAR(loss.At({0}).GetDouble(0),
                -(X(0, 2) + X(2, 4)) / (is_mean ? 2 : 1), 1e-6);
    EXPECT_EQ(loss.At({1}).GetDouble(0), 2);
  }
}

TEST(FrameworkCallsTest, AnotherFormStays) {
  const auto module = ParseModule(
      "HloModule m\nENTRY e {\n x = f32[3,5] parameter(0)\n ROOT r = f32[3,5] "
      "custom-call(x), custom_call_target=\"byteir.softmax\"\n}\n");
  ASSERT_OK(module.status());
  ASSERT_OK(
      Pipeline::FromNames("rare-op-expander")->Run(module->get(), {}).status());
  EXPECT_EQ((*module)->entry()->root()->opcode(), Opcode::kCustomCall);
}

TEST(FrameworkCallsTest, CallsOfNobodyKnownStayAsTheyAre) {
  auto module = ParseModule(
      "HloModule m\nENTRY e {\n x = bf16[8] parameter(0)\n"
      " ROOT c = bf16[8] custom-call(x), custom_call_target=\"nobody\"\n}\n");
  ASSERT_OK(module.status());
  EXPECT_OK(
      Pipeline::FromNames("rare-op-expander")->Run(module->get(), {}).status());
  EXPECT_EQ((*module)->entry()->instruction_count(), 2);
}

}  // namespace
}  // namespace ptxla::hlo
