// Is every operation's gradient the derivative of what its HLO computes?
// Central differences in f64 through the evaluator.
#include <functional>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "lazy/autograd.h"
#include "lazy/lowering.h"
#include "lazy/ops.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lazy {
namespace {

constexpr PrimitiveType kF64 = PrimitiveType::kF64;
constexpr PrimitiveType kS64 = PrimitiveType::kS64;
constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-7;

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

class GradientTest : public ::testing::Test {
 protected:
  Tensor Uniform(DimVector dims, double low, double high) {
    return Tensor::FromHost(&device_, {kF64, std::move(dims)},
                            HostValue::Uniform(low, high, ++seed_));
  }
  Tensor Labels(DimVector dims, int64_t limit) {
    return Tensor::FromHost(
        &device_, {kS64, std::move(dims)},
        HostValue::Uniform(0, static_cast<double>(limit), ++seed_));
  }

  // `fn` of leaves with these dimensions, reduced by random weights.
  void Check(const std::vector<DimVector>& dims, const Function& fn) {
    std::vector<Tensor> leaves;
    for (const DimVector& d : dims) {
      leaves.push_back(Uniform(d, -1, 1));
      leaves.back().set_requires_grad(true);
    }
    const Tensor y = fn(leaves);
    DimVector all;
    for (int i = 0; i < y.rank(); ++i) all.push_back(i);
    const Tensor weights = Uniform(y.dims(), -1, 1);
    const Tensor loss = ops::Sum(ops::Mul(y, weights), all, false);
    Backward(loss);
    std::vector<Value> roots = {loss.ir()};
    for (const Tensor& leaf : leaves) roots.push_back(leaf.grad().ir());
    const Graph graph = MakeGraph(roots);
    ASSERT_OK_AND_ASSIGN(const auto module, LowerToHlo(graph, DumpForm()));
    hlo::Evaluator evaluator(module.get());

    std::vector<hlo::Literal> arguments;
    std::map<const DeviceData*, size_t> position;
    for (const DeviceDataPtr& data : graph.parameters) {
      position[data.get()] = arguments.size();
      arguments.push_back(Materialize(data->host_value, data->shape()));
    }
    const auto loss_at = [&]() {
      auto result = evaluator.Run(arguments);
      EXPECT_THAT(result, testing::IsOk());
      return result.ok() ? result->elements()[0].GetDouble(0) : 0.0;
    };
    ASSERT_OK_AND_ASSIGN(const hlo::Literal result, evaluator.Run(arguments));
    for (size_t n = 0; n < leaves.size(); ++n) {
      hlo::Literal& x = arguments[position.at(leaves[n].lazy()->data().get())];
      const hlo::Literal& grad = result.elements()[n + 1];
      ASSERT_EQ(leaves[n].grad().dims(), leaves[n].dims());
      for (int64_t i = 0; i < x.ElementCount(); ++i) {
        const double at = x.GetDouble(i);
        x.SetDouble(i, at + kStep);
        const double up = loss_at();
        x.SetDouble(i, at - kStep);
        const double down = loss_at();
        x.SetDouble(i, at);
        EXPECT_NEAR(grad.GetDouble(i), (up - down) / (2 * kStep), kTolerance)
            << "leaf " << n << " element " << i;
      }
    }
  }

  Device device_;
  uint64_t seed_ = 0;
};

#define GRADIENT(Name, expression, ...)                              \
  TEST_F(GradientTest, Name) {                                       \
    Check({__VA_ARGS__},                                             \
          [&](const std::vector<Tensor>& x) { return expression; }); \
  }
using D = DimVector;

GRADIENT(AddBroadcasts, ops::Add(x[0], x[1], 0.5), D{3, 4}, D{4})
GRADIENT(AddBroadcastsTheFirst, ops::Add(x[0], x[1]), D{1, 4}, D{3, 4})
GRADIENT(Mul, ops::Mul(x[0], x[1]), D{3, 4}, D{3, 1})
GRADIENT(MulBySelf, ops::Mul(x[0], x[0]), D{5})
GRADIENT(MulByANumber, ops::Mul(x[0], 0.3), D{5})
GRADIENT(NumberMinus, ops::RsubScalar(1, x[0]), D{5})
GRADIENT(Relu, ops::Relu(x[0]), D{4, 5})
GRADIENT(Tanh, ops::Tanh(x[0]), D{4, 5})
GRADIENT(Gelu, ops::Gelu(x[0]), D{4, 5})
GRADIENT(Softmax, ops::Softmax(x[0], -1), D{2, 3, 4})
GRADIENT(SoftmaxOfAMiddleDimension, ops::Softmax(x[0], 1), D{2, 3, 4})
GRADIENT(LogSoftmax, ops::LogSoftmax(x[0], 1), D{3, 5})
GRADIENT(Sum, ops::Sum(x[0], {1}, false), D{3, 4})
GRADIENT(SumKeepingDimensions, ops::Sum(x[0], {0, 2}, true), D{2, 3, 2})
GRADIENT(Mean, ops::Mean(x[0], {1, 2}, false), D{2, 3, 2, 3})
GRADIENT(MeanKeepingDimensions, ops::Mean(x[0], {0}, true), D{2, 3})
GRADIENT(Convolution, ops::Convolution(x[0], x[1], 1, 1), D{2, 4, 3, 2},
         D{3, 3, 2, 3})
GRADIENT(ConvolutionInStepsThatLeaveARest, ops::Convolution(x[0], x[1], 2, 1),
         D{1, 6, 5, 2}, D{3, 3, 2, 2})
GRADIENT(ConvolutionOfPointsInSteps, ops::Convolution(x[0], x[1], 2, 0),
         D{1, 4, 5, 2}, D{1, 1, 2, 3})
GRADIENT(MaxPool, ops::MaxPool(x[0], 3, 2, 1), D{2, 5, 6, 2})
GRADIENT(LayerNorm, ops::LayerNorm(x[0], x[1], x[2], 1e-5), D{2, 3, 4}, D{4},
         D{4})
GRADIENT(Dropout, ops::Dropout(x[0], 0.4), D{6, 5})
GRADIENT(LinearOfAMatrix, ops::Linear(x[0], x[1], x[2]), D{3, 4}, D{2, 4}, D{2})
GRADIENT(LinearOfThreeDimensions, ops::Linear(x[0], x[1], x[2]), D{2, 3, 4},
         D{2, 4}, D{2})
GRADIENT(LinearWithoutBias, ops::Linear(x[0], x[1], Tensor()), D{3, 4}, D{2, 4})
GRADIENT(Matmul, ops::Matmul(x[0], ops::Transpose(x[1], 2, 3)), D{2, 2, 3, 4},
         D{2, 2, 5, 4})
GRADIENT(View, ops::View(x[0], {3, -1}), D{2, 6})
GRADIENT(Permute, ops::Permute(x[0], {2, 0, 1}), D{2, 3, 4})
GRADIENT(Expand, ops::Expand(x[0], {3, 4}), D{3, 1})
GRADIENT(Slice, ops::Slice(x[0], 1, 1, 3), D{2, 4})
GRADIENT(Index, ops::Index(x[0], 1, 2), D{2, 4, 3})

TEST_F(GradientTest, Embedding) {
  const Tensor ids = Labels({3, 4}, 5);
  Check({{5, 2}}, [&](const std::vector<Tensor>& x) {
    return ops::Embedding(x[0], ids);
  });
}

TEST_F(GradientTest, CrossEntropy) {
  const Tensor labels = Labels({6}, 5);
  Check({{6, 5}}, [&](const std::vector<Tensor>& x) {
    return ops::CrossEntropy(x[0], labels);
  });
}

TEST_F(GradientTest, CrossEntropyWithIgnoredRows) {
  const Tensor labels = Labels({6}, 5);
  Check({{6, 5}}, [&](const std::vector<Tensor>& x) {
    return ops::CrossEntropy(x[0], labels, /*ignore_index=*/2);
  });
}

TEST_F(GradientTest, BatchNorm) {
  const Tensor mean = Uniform({3}, -1, 1), variance = Uniform({3}, 0, 1);
  Check({{4, 2, 2, 3}, {3}, {3}}, [&](const std::vector<Tensor>& x) {
    return ops::BatchNorm(x[0], x[1], x[2], mean, variance, {});
  });
}

TEST_F(GradientTest, AViewOfWhatWasUpdated) {
  Check({{3, 4}}, [&](const std::vector<Tensor>& x) {
    return ops::Mul(ops::T(ops::T(x[0])), ops::Tanh(x[0]));
  });
}

}  // namespace
}  // namespace ptxla::lazy
