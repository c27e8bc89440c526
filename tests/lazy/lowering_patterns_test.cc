// Does one operation, forward and backward, lower to the very instructions that
// PyTorch/XLA 2.9 emits for it?
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/autocast.h"
#include "lazy/autograd.h"
#include "lazy/graph.h"
#include "lazy/lowering.h"
#include "lazy/ops.h"
#include "tests/support/hlo_reference.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lazy {
namespace {

using ::testing::IsEmpty;

constexpr PrimitiveType kF32 = PrimitiveType::kF32;
constexpr PrimitiveType kBf16 = PrimitiveType::kBf16;
constexpr PrimitiveType kS64 = PrimitiveType::kS64;

class LoweringPatternsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::HasReferences()) {
      GTEST_SKIP() << "the reference files are not beside this tree";
    }
  }

  Tensor Input(PrimitiveType type, DimVector dims) {
    return Tensor::FromHost(&device_, {type, std::move(dims)},
                            HostValue::Uniform(0, 1, 1));
  }
  Tensor Leaf(PrimitiveType type, DimVector dims) {
    Tensor t = Input(type, std::move(dims));
    t.set_requires_grad(true);
    return t;
  }

  void ExpectPattern(const std::string& name,
                     const std::vector<Tensor>& results) {
    std::vector<Value> roots;
    for (const Tensor& t : results) roots.push_back(t.ir());
    ASSERT_OK_AND_ASSIGN(const auto module,
                         LowerToHlo(MakeGraph(roots), DumpForm()));
    ASSERT_OK_AND_ASSIGN(const auto reference,
                         testing::ReadReference("patterns/" + name + ".hlo"));
    EXPECT_THAT(testing::Differences(*reference, *module), IsEmpty());
  }

  Device device_;
};

// y = fn(x), dy -> dx.
#define UNARY_PATTERN(Name, pattern, dims, expression) \
  TEST_F(LoweringPatternsTest, Name) {                 \
    const Tensor x = Leaf(kF32, DimVector dims);       \
    const Tensor y = expression;                       \
    Backward(y, Input(kF32, DimVector dims));          \
    ExpectPattern(pattern, {y, x.grad()});             \
  }
#define DIMS(...) \
  { __VA_ARGS__ }
UNARY_PATTERN(Relu, "relu", DIMS(16, 64), ops::Relu(x))
UNARY_PATTERN(Tanh, "tanh", DIMS(16, 64), ops::Tanh(x))
UNARY_PATTERN(Gelu, "gelu", DIMS(16, 64), ops::Gelu(x))
UNARY_PATTERN(Softmax, "softmax", DIMS(4, 16, 64), ops::Softmax(x, -1))
UNARY_PATTERN(LogSoftmax, "log_softmax", DIMS(16, 64), ops::LogSoftmax(x, -1))
UNARY_PATTERN(DropoutOfF32, "dropout_f32", DIMS(32, 64), ops::Dropout(x, 0.1))

TEST_F(LoweringPatternsTest, DropoutOfBf16TakesEightBits) {
  const Tensor x = Leaf(kBf16, {32, 64});
  const Tensor y = ops::Dropout(x, 0.1);
  Backward(y, Input(kBf16, {32, 64}));
  ExpectPattern("dropout_bf16", {y, x.grad()});
}

TEST_F(LoweringPatternsTest, LinearOfAMatrix) {
  const Tensor x = Leaf(kF32, {32, 64}), w = Leaf(kF32, {128, 64}),
               b = Leaf(kF32, {128});
  const Tensor y = ops::Linear(x, w, b);
  Backward(y, Input(kF32, {32, 128}));
  ExpectPattern("linear", {y, x.grad(), w.grad(), b.grad()});
}

TEST_F(LoweringPatternsTest, LinearOfThreeDimensions) {
  const Tensor x = Leaf(kF32, {4, 8, 64}), w = Leaf(kF32, {128, 64}),
               b = Leaf(kF32, {128});
  const Tensor y = ops::Linear(x, w, b);
  Backward(y, Input(kF32, {4, 8, 128}));
  ExpectPattern("linear_3d", {y, x.grad(), w.grad(), b.grad()});
}

TEST_F(LoweringPatternsTest, MatmulOfFourDimensions) {
  const Tensor a = Leaf(kF32, {2, 4, 16, 32}), b = Leaf(kF32, {2, 4, 16, 32});
  const Tensor y = ops::Matmul(a, ops::Transpose(b, 2, 3));
  Backward(y, Input(kF32, {2, 4, 16, 16}));
  ExpectPattern("matmul_4d", {y, a.grad(), b.grad()});
}

TEST_F(LoweringPatternsTest, LinearUnderAutocast) {
  const Tensor x = Input(kF32, {32, 64}), w = Leaf(kF32, {128, 64}),
               b = Leaf(kF32, {128});
  Tensor y;
  {
    const Autocast autocast(&device_);
    y = ops::Linear(x, w, b);
  }
  Backward(y, Input(kBf16, {32, 128}));
  ExpectPattern("autocast_linear", {y, w.grad(), b.grad()});
}

TEST_F(LoweringPatternsTest, LayerNormUnderAutocastStaysBf16) {
  const Autocast autocast(&device_);
  const Tensor x = Input(kBf16, {4, 16, 64});
  const Tensor y =
      ops::LayerNorm(x, Input(kF32, {64}), Input(kF32, {64}), 1e-5);
  ExpectPattern("autocast_softmax_ln", {y, ops::Softmax(y, -1)});
}

TEST_F(LoweringPatternsTest, LayerNormIsABatchNorm) {
  const Tensor x = Leaf(kF32, {4, 16, 64}), w = Leaf(kF32, {64}),
               b = Leaf(kF32, {64});
  const Tensor y = ops::LayerNorm(x, w, b, 1e-12);
  Backward(y, Input(kF32, {4, 16, 64}));
  ExpectPattern("layer_norm", {y, x.grad(), w.grad(), b.grad()});
}

TEST_F(LoweringPatternsTest, CrossEntropyIsOneHot) {
  const Tensor x = Leaf(kF32, {16, 64});
  const Tensor loss = ops::CrossEntropy(x, Input(kS64, {16}));
  Backward(loss, Input(kF32, {}));
  ExpectPattern("cross_entropy", {loss, x.grad()});
}

TEST_F(LoweringPatternsTest, Embedding) {
  const Tensor w = Leaf(kF32, {1000, 64});
  const Tensor y = ops::Embedding(w, Input(kS64, {8, 16}));
  Backward(y, Input(kF32, {8, 16, 64}));
  ExpectPattern("embedding", {y, w.grad()});
}

TEST_F(LoweringPatternsTest, EmbeddingWithPadding) {
  const Tensor w = Leaf(kF32, {1000, 64});
  const Tensor y = ops::Embedding(w, Input(kS64, {8, 16}), /*padding_idx=*/0);
  Backward(y, Input(kF32, {8, 16, 64}));
  ExpectPattern("embedding_padding_idx", {y, w.grad()});
}

TEST_F(LoweringPatternsTest, AdamWStep) {
  const Tensor p = Input(kF32, {128, 64}), m = Input(kF32, {128, 64}),
               v = Input(kF32, {128, 64}), g = Input(kF32, {128, 64});
  ops::MulInPlace(p, 0.99999);
  ops::LerpInPlace(m, g, 0.1);
  ops::MulInPlace(v, 0.999);
  ops::AddcmulInPlace(v, g, g, 0.001);
  const Tensor d = ops::AddScalar(ops::DivScalar(ops::Sqrt(v), 0.03), 1e-8);
  ops::AddcdivInPlace(p, m, d, -0.01);
  ExpectPattern("adamw", {p, m, v});
}

TEST_F(LoweringPatternsTest, SgdStepWithMomentum) {
  const Tensor p = Input(kF32, {128, 64}), m = Input(kF32, {128, 64}),
               g = Input(kF32, {128, 64});
  const Tensor decayed = ops::Add(g, p, 0.0001);
  ops::MulInPlace(m, 0.9);
  ops::AddInPlace(m, decayed, 1);
  ops::AddInPlace(p, m, -0.1);
  ExpectPattern("sgd_momentum", {p, m});
}

TEST_F(LoweringPatternsTest, UpdatesThroughViewsReachTheBase) {
  const Tensor x = Input(kF32, {4, 8});
  ops::MulInPlace(x, 2);
  ops::AddInPlace(ops::Slice(x, 0, 1, 3), 5);
  ops::ZeroInPlace(ops::Index(x, 1, 0));
  ExpectPattern("views_inplace", {x});
}

TEST_F(LoweringPatternsTest, GradientAllReduceIsOneTupleChainedByTheToken) {
  const Tensor x = Input(kF32, {4, 16}), w = Leaf(kF32, {16, 16}),
               b = Leaf(kF32, {16});
  const Tensor loss = ops::Sum(ops::Linear(x, w, b), {0, 1}, false);
  Backward(loss);
  ops::AllReduceInPlace({w.grad(), b.grad()}, 0.125, {{0, 1, 2, 3}});
  std::vector<Value> roots = {w.grad().ir(), b.grad().ir()};
  ASSERT_OK_AND_ASSIGN(const auto module,
                       LowerToHlo(MakeGraph(roots), DumpForm()));
  ASSERT_OK_AND_ASSIGN(
      const auto reference,
      testing::ReadReference("side/collective_all_reduce_gradients.hlo"));
  EXPECT_THAT(testing::Differences(*reference, *module), IsEmpty());
}

}  // namespace
}  // namespace ptxla::lazy
